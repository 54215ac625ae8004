// Says of a wide table whether there is more of it to the right. Without it the hint always stands.
function hint() {
  for (const box of document.querySelectorAll(".scroll")) {
    const line = box.previousElementSibling;
    const over = box.scrollWidth - box.clientWidth;
    box.classList.toggle("more", over > 1 && box.scrollLeft < over - 1);
    if (line && line.classList.contains("wide")) line.classList.toggle("fits", over <= 1);
  }
}
addEventListener("resize", hint);
addEventListener("scroll", hint, true);
addEventListener("change", hint);
hint();

// Opens the part of a panel that belongs to the figure that was chosen. The page works without it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-variant]");
  const panel = button && document.getElementById(button.getAttribute("popovertarget"));
  if (!panel) return;
  for (const part of panel.querySelectorAll("details")) {
    part.open = part.dataset.variant === button.dataset.variant;
  }
});
