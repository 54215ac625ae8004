"""Certificates of authorities that nobody knows, made by openssl, for tests of encrypted
sessions."""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificates:
    """A server's certificate for 127.0.0.1, one for another address, the authority of both, and one
    that has signed neither."""

    folder: Path
    shown: str = "server.pem"
    """The one that the server shows."""

    @property
    def key(self) -> Path:
        return self.folder / "server.key"

    @property
    def server(self) -> Path:
        return self.folder / self.shown

    @property
    def of_another_address(self) -> "Certificates":
        return replace(self, shown="elsewhere.pem")

    @property
    def authority(self) -> Path:
        return self.folder / "authority.pem"

    @property
    def stranger(self) -> Path:
        return self.folder / "stranger.pem"


def made_in(folder: Path) -> Certificates:
    for name in ("authority", "stranger"):
        _openssl(
            folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}",
        )  # fmt: skip
    _openssl(
        folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key",
        "-out", "server.csr", "-subj", "/CN=server",
    )  # fmt: skip
    for name, where in (("server", "IP:127.0.0.1"), ("elsewhere", "DNS:db.example")):
        (folder / "names").write_text(f"subjectAltName={where}\n")
        _openssl(
            folder, "x509", "-req", "-in", "server.csr", "-CA", "authority.pem",
            "-CAkey", "authority.key", "-CAcreateserial", "-days", "2", "-extfile", "names",
            "-out", f"{name}.pem",
        )  # fmt: skip
    (folder / "server.key").chmod(0o600)
    return Certificates(folder)


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
