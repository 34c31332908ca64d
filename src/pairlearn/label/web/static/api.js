// Talks to the server. Every failure becomes one of three things that the page can act on:
// Unreachable (try again later), Gone (the session has
// ended, or the invitation has: `ended`), Refused (the server says no).

export class Unreachable extends Error {}
export class Gone extends Error {
  constructor(message, ended) {
    super(message);
    this.ended = ended;
  }
}
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// A server that hangs is as good as none: answers are kept and sent again.
const PATIENCE = 20_000;

// The server's words as a whole sentence.
function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

async function request(path, options) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  let response;
  let body;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: stop.signal, ...options });
    body = await response.json().catch(() => null);
  } catch (error) {
    throw new Unreachable(String(error));
  } finally {
    clearTimeout(timer);
  }
  if (response.ok && body !== null) return body;
  const message = sentence(body?.error ?? `the server answered with number ${response.status}`);
  if (response.status === 401) throw new Gone(message, body?.ended === true);
  if (response.ok || response.status >= 500 || response.status === 408 || response.status === 429) {
    throw new Unreachable(message);
  }
  throw new Refused(message, response.status);
}

export const get = (path) => request(path, { method: "GET" });

export const post = (path, body) =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Pairlearn": "1" },
    body: JSON.stringify(body),
  });

// For panels: tries again, with growing pauses, until the server is back.
export async function persist(work, onTrouble = () => {}) {
  for (let pause = 400; ; pause = Math.min(pause * 1.6, 8000)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      onTrouble(error);
      await new Promise((go) => setTimeout(go, pause));
    }
  }
}
