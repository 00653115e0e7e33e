"""`thence doctor`: every fault is named together with its cure."""

from __future__ import annotations

import stat
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from thence.cli import installation as doctor_checks
from thence.cli import installation as java
from thence.cli import main
from thence.cli.installation import Finding


def fake_java(folder: Path, sentence: str) -> Path:
    """A JAVA_HOME whose java says `sentence` on stderr."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir()
    executable.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{sentence}\nEND\n")
    executable.chmod(stat.S_IRWXU)
    return folder


def without_package(monkeypatch: pytest.MonkeyPatch, missing: str, installed: str | None = None) -> None:
    real = metadata.version

    def version(package: str) -> str:
        if package != missing:
            return real(package)
        if installed is None:
            raise metadata.PackageNotFoundError(package)
        return installed

    monkeypatch.setattr(metadata, "version", version)


def declare(monkeypatch: pytest.MonkeyPatch, *requirements: str) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: list(requirements))


def test_a_sound_machine_is_found_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "CHECKS", (lambda: Finding("Python", True, "3.11.7"),))
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0
    assert "ok" in result.stdout
    assert "3.11.7" in result.stdout


def test_a_fault_is_shown_with_its_cure_on_a_line_of_its_own_and_exit_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    cure = "sudo apt-get install " + "a-package-with-a-long-name " * 6
    faulty = (lambda: Finding("Python", True, "3.11.7"), lambda: Finding("Java", False, "not [found]", cure))
    monkeypatch.setattr(doctor_checks, "CHECKS", faulty)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert "not [found]" in result.stdout
    assert f"Java: {cure}".rstrip() in result.stdout


def test_every_check_gives_a_finding_here() -> None:
    for check in doctor_checks.CHECKS:
        finding = check()
        assert finding.name
        assert finding.detail
        assert finding.ok or finding.cure


def test_java_is_missing_without_java_home_and_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    ok, detail, cure = java.check_java()
    assert not ok
    assert detail == "not found, neither by JAVA_HOME nor in PATH"
    assert cure == java.install_command()


def test_java_is_found_by_java_home_before_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, 'openjdk version "21.0.7" 2025-04-15 LTS')))
    assert java.check_java() == (True, f"21 at {tmp_path}/bin/java", "")


def test_a_java_home_without_java_is_a_fault_even_with_java_in_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ok, detail, cure = java.check_java()
    assert not ok
    assert detail == f"JAVA_HOME is {tmp_path}, where there is no bin/java"
    assert cure.startswith("unset JAVA_HOME, or: ")


@pytest.mark.parametrize("sentence", ['java version "1.8.0_401"', 'openjdk version "11.0.22" 2024-01-16'])
def test_a_java_older_than_17_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sentence: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, sentence)))
    ok, detail, _ = java.check_java()
    assert not ok
    assert detail.endswith("needed 17 or later")


def test_the_java_of_macos_that_is_none_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "Unable to locate a Java Runtime.")))
    ok, detail, _ = java.check_java()
    assert not ok
    assert detail.endswith("does not print its version")


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ("ID=debian\n", java.INSTALL["debian"]),
        ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', java.INSTALL["debian"]),
        ("ID=fedora\nVERSION_ID=43\n", java.INSTALL["fedora"]),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', java.INSTALL["fedora"]),
    ],
)
def test_the_command_that_installs_java_is_the_one_of_this_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, release: str, command: str
) -> None:
    (tmp_path / "os-release").write_text(release)
    monkeypatch.setattr(java, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(java.platform, "system", lambda: "Linux")
    assert java.install_command() == command


def test_on_macos_java_comes_from_homebrew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java.platform, "system", lambda: "Darwin")
    assert java.install_command() == java.INSTALL["macos"]


def test_on_an_unknown_system_all_commands_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java, "OS_RELEASE", tmp_path / "nothing")
    monkeypatch.setattr(java.platform, "system", lambda: "Linux")
    assert all(command in java.install_command() for command in java.INSTALL.values())


def test_an_installation_without_spark_is_whole_and_says_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without_package(monkeypatch, "pyspark")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    found = {each.name: each for each in (check() for check in doctor_checks.CHECKS)}
    assert all(found[name].ok for name in ("Java", "Spark", "pandas", "protobuf"))
    assert found["Spark"].detail == 'not installed, needed for Spark only: pip install "thence[spark]"'


def test_what_spark_needs_is_cured_by_pip_with_the_version_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "click<9,>=8.2", 'protobuf>=6.33; extra == "spark"')
    without_package(monkeypatch, "protobuf")
    finding = doctor_checks.check_protobuf()
    assert (finding.ok, finding.detail) == (False, "not installed")
    assert finding.cure.endswith("-m pip install 'protobuf>=6.33'")


def test_pandas_3_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "pandas<3,>=2.2; extra == 'spark'")
    without_package(monkeypatch, "pandas", installed="3.0.1")
    finding = doctor_checks.check_pandas()
    assert (finding.ok, finding.detail) == (False, "3.0.1, needed <3,>=2.2")


def test_a_library_that_does_not_import_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(module: str) -> None:
        raise ImportError("libssl.so.3: cannot open shared object file")

    monkeypatch.setattr(doctor_checks.importlib, "import_module", broken)
    finding = doctor_checks.check_protobuf()
    assert not finding.ok
    assert "can't be imported: libssl.so.3" in finding.detail


def test_all_libraries_that_are_wrong_are_named_together(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "click<9,>=8.2", "lark<2,>=1.3", "no-such-package>=1", 'pytest<3; extra == "dev"')
    without_package(monkeypatch, "lark", installed="0.12.0")
    finding = doctor_checks.check_libraries()
    assert finding.detail == "missing or of another version: lark<2,>=1.3, no-such-package>=1"


def test_thence_without_its_metadata_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(package: str) -> list[str]:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "requires", unknown)
    assert doctor_checks.check_libraries().detail == "Thence itself is not installed"


def test_numba_without_a_place_for_its_cache_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    def njit(*, cache: bool) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    finding = doctor_checks.check_numba()
    assert finding.detail == "RuntimeError: cannot cache function: no locator available"
    assert finding.cure.startswith("export NUMBA_CACHE_DIR=")


def test_a_containers_memory_limit_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{512 * 2**20}\n")
    monkeypatch.setattr(doctor_checks, "CGROUP_LIMIT", limit)
    finding = doctor_checks.check_memory()
    assert (finding.ok, finding.detail) == (False, "0.5 GiB")


def test_a_full_disk_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "DISK", 2**80)
    finding = doctor_checks.check_disk()
    assert not finding.ok
    assert "TMPDIR" in finding.cure


def test_a_directory_that_can_not_be_written_to_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*, dir: Path) -> None:
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(doctor_checks.tempfile, "TemporaryFile", refused)
    finding = doctor_checks.check_writing()
    assert not finding.ok
    assert finding.detail == f"{Path.cwd()}: Permission denied"
