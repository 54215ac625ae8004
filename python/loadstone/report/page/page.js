// Opens the part of a panel that belongs to the figure that was chosen. The page works without it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-variant]");
  const panel = button && document.getElementById(button.getAttribute("popovertarget"));
  if (!panel) return;
  for (const part of panel.querySelectorAll("details")) {
    part.open = part.dataset.variant === button.dataset.variant;
  }
});
