// One prompt turn: what the directives in tests/agents/directives.mjs write to.
//
// Hides what differs on the wire between ACP v1 and v2 (tool calls, states, message ids). Knows
// neither how a turn begins and ends nor how sessions are kept: that is sdk_agent.mjs.

const PATTERN = /\[\[([\w-]+)(?::([\s\S]*?))?\]\]/g;
const REPLAYED = /^(user_|agent_|tool_call|terminal_|plan)/;

/** Foreground work was stopped by `session/cancel`. */
export class Cancelled extends Error {}

export const text = (value) => ({ type: "text", text: value });
export const base64 = (value) => Buffer.from(value).toString("base64");

/** The directives of a prompt, as `[name, argument]` pairs in the order written. */
export function parse(prompt) {
  const words = prompt.filter((block) => block.type === "text").map((block) => block.text);
  return [...words.join("\n").matchAll(PATTERN)].map((match) => [match[1], match[2]]);
}

/** Sends a `session/update`, and keeps it for a later replay when it belongs to the history. */
export function send(client, session, update) {
  if (REPLAYED.test(update.sessionUpdate)) session.history.push(update);
  return client.notify("session/update", { sessionId: session.id, update });
}

export class Turn {
  stopReason = "end_turn";
  error = undefined;
  afterwards = [];

  constructor({ client, capabilities, session, draft, signal, prompt }) {
    Object.assign(this, { client, capabilities, session, draft, signal, prompt });
    this.steps = parse(prompt);
    this.withIds = draft || this.steps.some(([name]) => name === "messageId");
  }

  async run(directives) {
    const known = this.steps.filter(([name]) => !SETTINGS.has(name));
    for (const [name, argument] of known.length ? known : [["say", "Hello from the test agent."]]) {
      this.stopIfCancelled();
      const does = directives[name];
      if (does) await does(this, argument);
      else await this.say(`There is no directive ${name}.`);
    }
    this.stopIfCancelled();
  }

  stopIfCancelled() {
    if (this.signal.aborted) throw new Cancelled();
  }

  /** Resolves when the client cancels; there is no other way out. */
  untilCancelled() {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((done) => this.signal.addEventListener("abort", done, { once: true }));
  }

  // Ids count up within a session, so that a test can name them.
  id(prefix) {
    this.session.counters[prefix] = (this.session.counters[prefix] ?? 0) + 1;
    return `${prefix}-${this.session.counters[prefix]}`;
  }

  update(fields) {
    return send(this.client, this.session, fields);
  }

  state(state, more = {}) {
    return this.draft ? this.update({ sessionUpdate: "state_update", state, ...more }) : undefined;
  }

  chunk(content, messageId, kind = "agent_message_chunk") {
    const id = this.withIds ? { messageId } : {};
    return this.update({ sessionUpdate: kind, ...id, content });
  }

  say(words) {
    return this.chunk(text(words), this.id("msg"));
  }

  onlyIn(version, name) {
    return this.say(`[[${name}]] needs ACP v${version}.`);
  }

  /** First report of a call: `tool_call` in v1, the same upsert as ever in v2. */
  announce(toolCallId, fields) {
    const sessionUpdate = this.draft ? "tool_call_update" : "tool_call";
    return this.update({ sessionUpdate, toolCallId, ...fields });
  }

  tool(toolCallId, fields) {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  }

  /** Sends requests all at once and reports `requires_action` until every one is answered. */
  async ask(method, requests, options = {}) {
    const sessionId = this.session.id;
    const answers = requests.map((request) =>
      this.client.request(method, { sessionId, ...request }, options).then(
        (result) => ({ result }),
        (error) => ({ error }),
      ),
    );
    await this.state("requires_action");
    options.whenAsked?.();
    const settled = await Promise.all(answers);
    await this.state("running");
    return settled;
  }
}

// Directives that say how the turn as a whole goes; sdk_agent.mjs reads them.
const SETTINGS = new Set(["messageId", "order"]);
