"""Writes the pictures."""

from tests.pictures.all import FOLDER, pictures

if __name__ == "__main__":
    for name, canvas in pictures().items():
        (FOLDER / name).write_text(canvas.svg(), encoding="utf-8")
