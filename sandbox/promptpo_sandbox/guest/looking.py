"""Pieces for looking at pictures: what a policy may import by the name ``looking``, in numpy alone.

A picture is an array of rows and columns, or of rows, columns and channels; row 0 is at its top. A mask is an array of
bools of rows and columns. The exporter puts the pieces that a policy uses into its file, so they are written as policies
have to be: each in one function that stands at the top level, with nothing that the gate refuses.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np


def crop(picture, top, bottom, left, right):
    """Rows `top` up to, not including, `bottom`, and columns `left` up to `right`; ends beyond the edge are cut."""
    return picture[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]


def grey(picture):
    """Brightness as floats [rows, columns], in the units of the picture."""
    picture = np.asarray(picture, dtype=float)
    if picture.ndim == 2:
        return picture
    if picture.shape[2] < 3:
        return picture[:, :, 0]
    return picture[:, :, :3] @ np.array([0.299, 0.587, 0.114])


def downscale(picture, factor):
    """Means of blocks of `factor` by `factor` pixels, as floats; rows and columns left over at the end are dropped."""
    picture = np.asarray(picture, dtype=float)
    rows, columns = picture.shape[0] // factor, picture.shape[1] // factor
    picture = picture[: rows * factor, : columns * factor]
    blocks = picture.reshape((rows, factor, columns, factor, *picture.shape[2:]))
    return blocks.mean(axis=(1, 3))


def threshold(picture, low, high):
    """Mask of pixels from `low` to `high` inclusive: numbers, or one per channel, all of which must match."""
    picture = np.asarray(picture)
    inside = (picture >= np.asarray(low)) & (picture <= np.asarray(high))
    return inside if inside.ndim == 2 else inside.all(axis=2)


def coloured(picture, colour, tolerance=20):
    """Mask of pixels whose channels are all within `tolerance` of a colour, for example ``(255, 0, 0)``."""
    picture = np.asarray(picture, dtype=int)
    return threshold(picture, np.asarray(colour) - tolerance, np.asarray(colour) + tolerance)


def labels(mask, diagonal=True):
    """Label of the connected component at each pixel of a mask (ints from 1, 0 outside), and the number of components.

    Components are numbered by their first pixels, from the top, then from the left.
    """
    mask = np.asarray(mask, dtype=bool)
    height, width = mask.shape
    edges = np.zeros((height, width + 2), dtype=np.int8)
    edges[:, 1:-1] = mask
    change = np.diff(edges, axis=1)
    rows, starts = np.nonzero(change == 1)  # runs of pixels in a row, from the top, then from the left
    ends = np.nonzero(change == -1)[1]
    parent = list(range(len(rows)))
    reach = 1 if diagonal else 0
    row, start, end = rows.tolist(), starts.tolist(), ends.tolist()
    above = 0
    for run in range(len(row)):
        while above < run and (
            row[above] < row[run] - 1 or (row[above] == row[run] - 1 and end[above] + reach <= start[run])
        ):
            above += 1
        other = above
        while other < run and row[other] == row[run] - 1 and start[other] < end[run] + reach:
            a, b = other, run
            while parent[a] != a:
                a = parent[a]
            while parent[b] != b:
                b = parent[b]
            parent[max(a, b)] = min(a, b)
            other += 1
    number, count = [], 0
    for run in range(len(row)):
        root = run
        while parent[root] != root:
            root = parent[root]
        parent[run] = root
        if root == run:
            count += 1
            number.append(count)
        else:
            number.append(number[root])
    steps = np.zeros((height, width + 1), dtype=int)
    np.add.at(steps, (rows, starts), number)
    np.subtract.at(steps, (rows, ends), number)
    return np.cumsum(steps, axis=1)[:, :width], count


def components(mask, least=1, diagonal=True):
    """Connected components of a mask with at least `least` pixels, largest first.

    Each is a dict: "row", "column" (floats, its centroid), "area" (its pixels), "top", "bottom", "left", "right"
    (its first and last rows and columns).
    """
    found, count = labels(mask, diagonal)
    rows, columns = np.nonzero(found)
    which = found[rows, columns] - 1
    areas = np.bincount(which, minlength=count)
    tops, lefts = np.full(count, found.shape[0]), np.full(count, found.shape[1])
    bottoms, rights = np.full(count, -1), np.full(count, -1)
    np.minimum.at(tops, which, rows)
    np.maximum.at(bottoms, which, rows)
    np.minimum.at(lefts, which, columns)
    np.maximum.at(rights, which, columns)
    row_sums = np.bincount(which, weights=rows, minlength=count)
    column_sums = np.bincount(which, weights=columns, minlength=count)
    return [
        {
            "row": float(row_sums[n] / areas[n]),
            "column": float(column_sums[n] / areas[n]),
            "area": int(areas[n]),
            "top": int(tops[n]),
            "bottom": int(bottoms[n]),
            "left": int(lefts[n]),
            "right": int(rights[n]),
        }
        for n in np.argsort(-areas, kind="stable").tolist()
        if areas[n] >= least
    ]


def centroids(mask, least=1, diagonal=True):
    """Centroid (row, column) of each connected component with at least `least` pixels, largest first."""
    return [(piece["row"], piece["column"]) for piece in components(mask, least, diagonal)]


def centroid(mask):
    """Centroid (row, column) of a mask; None if it has no pixels."""
    rows, columns = np.nonzero(mask)
    return (float(rows.mean()), float(columns.mean())) if len(rows) else None


def match(picture, template):
    """Where a template fits best: (row, column) of its top left pixel, and the mean squared difference there (0: exact).

    None if the template is larger than the picture. Slow for large templates: crop the picture first.
    """
    picture, template = np.asarray(picture, dtype=float), np.asarray(template, dtype=float)
    rows = picture.shape[0] - template.shape[0] + 1
    columns = picture.shape[1] - template.shape[1] + 1
    if rows < 1 or columns < 1 or template.size == 0:
        return None
    different = np.zeros((rows, columns))
    for i in range(template.shape[0]):
        for j in range(template.shape[1]):
            part = picture[i : i + rows, j : j + columns] - template[i, j]
            different += (part * part).reshape(rows, columns, -1).sum(axis=2)
    row, column = divmod(int(different.argmin()), columns)
    return row, column, float(different[row, column] / template.size)
