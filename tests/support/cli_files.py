"""Tables written for tests of the command line."""

POINTS = "id,x,colour\np1,1.5,red\np2,2,blue\np3,-3,red\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
