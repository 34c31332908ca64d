// localStorage and sessionStorage as JSON. A browser that keeps nothing (or is full) gets a
// memory that lasts as long as the page, so that answering still works.

class Memory {
  constructor(kind) {
    this.prefix = "pairlearn/";
    this.loose = new Map();
    try {
      this.storage = globalThis[kind];
      this.storage.setItem("pairlearn/try", "1");
      this.storage.removeItem("pairlearn/try");
    } catch {
      this.storage = null;
    }
  }

  get(name) {
    const text = this.loose.get(name) ?? this.storage?.getItem(this.prefix + name) ?? null;
    if (text === null) return null;
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  // Says whether the value will outlive the page.
  set(name, value) {
    const text = JSON.stringify(value);
    try {
      this.storage.setItem(this.prefix + name, text);
      this.loose.delete(name);
      return true;
    } catch {
      this.loose.set(name, text);
      return false;
    }
  }

  remove(name) {
    this.loose.delete(name);
    this.storage?.removeItem(this.prefix + name);
  }

  // The names that begin with `start`, in order.
  names(start) {
    const found = new Set([...this.loose.keys()].filter((name) => name.startsWith(start)));
    for (let i = 0; i < (this.storage?.length ?? 0); i += 1) {
      const key = this.storage.key(i);
      if (key.startsWith(this.prefix + start)) found.add(key.slice(this.prefix.length));
    }
    return [...found].sort();
  }

  clear() {
    for (const name of this.names("")) this.remove(name);
  }
}

export const local = new Memory("localStorage");
export const session = new Memory("sessionStorage");
