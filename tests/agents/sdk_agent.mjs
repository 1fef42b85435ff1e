// A test agent on the official TypeScript SDK: ACP v1 and v2 by negotiation.
//
//   node sdk_agent.mjs [--protocol 1 | --protocol 2] [--v1-options] [--state FOLDER] [--http]
//
// `--v1-options` makes v1 offer config options beside its modes. `--state` keeps sessions in a
// folder, so that a new process can resume them. `--http` serves it over Streamable HTTP and prints
// the port. Directives: directives.mjs, README.md.

import { randomUUID } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { DIRECTIVES, failure } from "./directives.mjs";
import { Cancelled, Turn, parse, send } from "./turn.mjs";

const { values: flags } = parseArgs({
  options: {
    protocol: { type: "string" },
    "v1-options": { type: "boolean", default: false },
    state: { type: "string" },
    http: { type: "boolean", default: false },
  },
});
if (flags.state) fs.mkdirSync(flags.state, { recursive: true });
const INFO = { name: "sdk-test-agent", title: "SDK test agent", version: "1.0.0" };
const MODES = [
  { id: "ask", name: "Ask", description: "Asks before every tool" },
  { id: "trust", name: "Trust", description: "Asks for nothing" },
];
const MODELS = [
  { value: "small", name: "Small" },
  { value: "large", name: "Large", description: "The larger one" },
  { value: "refused", name: "Refused", description: "Offered, but cannot be set" },
];
const COMMANDS = [
  { name: "plan", description: "Shows a plan" },
  { name: "shout", description: "Says its argument in capitals", input: { hint: "what to shout" } },
];

// ---------------------------------------------------------------- sessions

class Session {
  controller = null; // of the foreground work; null while idle
  queue = []; // prompts taken in while work runs (v2)

  constructor(draft, kept) {
    Object.assign(this, { draft, ...kept });
  }

  static fresh(draft, cwd) {
    const options = { mode: "ask", model: "small", verbose: false };
    const id = `sess-${randomUUID()}`;
    return new Session(draft, { id, cwd, title: null, options, counters: {}, history: [] });
  }

  configOptions() {
    const key = this.draft ? "configId" : "id";
    const { mode, model, verbose } = this.options;
    const modes = MODES.map(({ id, ...rest }) => ({ value: id, ...rest }));
    const select = (id, name, currentValue, options) => {
      return { [key]: id, name, category: id, type: "select", currentValue, options };
    };
    return [
      select("mode", "Mode", mode, modes),
      select("model", "Model", model, MODELS),
      { [key]: "verbose", name: "Verbose", type: "boolean", currentValue: verbose },
    ];
  }

  setOption(id, value) {
    const option = this.configOptions().find((one) => (one.configId ?? one.id) === id);
    const values = option?.options?.map((one) => one.value) ?? [true, false];
    if (!option || !values.includes(value)) {
      throw new v1.RequestError(-32602, `Invalid value for option ${id}`);
    }
    if (value === "refused") throw new v1.RequestError(-32603, "This model is not in your plan");
    this.options[id] = value;
  }
}

class Sessions {
  live = new Map();

  constructor(draft) {
    this.draft = draft;
  }

  create({ cwd }) {
    if (!path.isAbsolute(cwd)) throw new v1.RequestError(-32602, "cwd must be absolute", { cwd });
    const session = Session.fresh(this.draft, cwd);
    this.live.set(session.id, session);
    this.save(session);
    return session;
  }

  get(id) {
    const session = this.live.get(id);
    if (!session) throw new v1.RequestError(-32002, "Resource not found", { sessionId: id });
    return session;
  }

  /** A session of this process, or one that an earlier process kept. */
  open(id) {
    if (!this.live.has(id) && flags.state && fs.existsSync(this.#file(id))) {
      this.live.set(id, new Session(this.draft, JSON.parse(fs.readFileSync(this.#file(id), "utf8"))));
    }
    return this.get(id);
  }

  list() {
    const kept = flags.state ? fs.readdirSync(flags.state).map((name) => path.parse(name).name) : [];
    const ids = new Set([...kept, ...this.live.keys()]);
    const sessions = [...ids].map((id) => this.open(id));
    return { sessions: sessions.map(({ id, cwd, title }) => ({ sessionId: id, cwd, title })) };
  }

  close(id) {
    this.get(id).controller?.abort();
    this.live.delete(id);
    return {};
  }

  delete(id) {
    this.live.get(id)?.controller?.abort();
    this.live.delete(id);
    if (flags.state) fs.rmSync(this.#file(id), { force: true });
    return {};
  }

  save({ id, cwd, title, options, counters, history }) {
    if (!flags.state) return;
    fs.writeFileSync(this.#file(id), JSON.stringify({ id, cwd, title, options, counters, history }));
  }

  #file(id) {
    return path.join(flags.state, `${path.basename(id)}.json`);
  }
}

// What is sent from here leaves after the answer that the current handler returns.
const afterTheAnswer = (action) => setImmediate(action);

// ---------------------------------------------------------------- version 1

function agentV1() {
  const sessions = new Sessions(false);
  let client;
  let capabilities = {};
  const setup = (session) => {
    afterTheAnswer(() =>
      send(client, session, { sessionUpdate: "available_commands_update", availableCommands: COMMANDS }),
    );
    return {
      modes: { currentModeId: session.options.mode, availableModes: MODES },
      ...(flags["v1-options"] ? { configOptions: session.configOptions() } : {}),
    };
  };

  async function prompt({ params }) {
    const session = sessions.get(params.sessionId);
    if (session.controller) throw new v1.RequestError(-32600, "A prompt is already in progress");
    session.controller = new AbortController();
    const { signal } = session.controller;
    const turn = new Turn({ client, capabilities, session, draft: false, signal, prompt: params.prompt });
    for (const content of params.prompt) {
      session.history.push({ sessionUpdate: "user_message_chunk", content });
    }
    try {
      await turn.run(DIRECTIVES);
      return { stopReason: turn.stopReason };
    } catch (error) {
      if (error instanceof Cancelled) return { stopReason: "cancelled" };
      throw error;
    } finally {
      session.controller = null;
      sessions.save(session);
      for (const later of turn.afterwards) afterTheAnswer(later);
    }
  }

  return v1
    .agent({ name: INFO.name })
    .onConnect((connection) => {
      client = connection.client;
    })
    .onRequest("initialize", ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: 1,
        agentInfo: INFO,
        authMethods: [],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
      };
    })
    .onRequest("session/new", ({ params }) => {
      const session = sessions.create(params);
      return { sessionId: session.id, ...setup(session) };
    })
    .onRequest("session/load", async ({ params }) => {
      const session = sessions.open(params.sessionId);
      for (const update of session.history) {
        await client.notify("session/update", { sessionId: session.id, update });
      }
      return setup(session);
    })
    .onRequest("session/resume", ({ params }) => setup(sessions.open(params.sessionId)))
    .onRequest("session/list", () => sessions.list())
    .onRequest("session/close", ({ params }) => sessions.close(params.sessionId))
    .onRequest("session/delete", ({ params }) => sessions.delete(params.sessionId))
    .onRequest("session/set_mode", ({ params }) => {
      sessions.get(params.sessionId).setOption("mode", params.modeId);
      return {};
    })
    .onRequest("session/set_config_option", ({ params }) => {
      const session = sessions.get(params.sessionId);
      session.setOption(params.configId, params.value);
      return { configOptions: session.configOptions() };
    })
    .onRequest("session/prompt", prompt)
    .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId).controller?.abort());
}

// ---------------------------------------------------------------- version 2

function agentV2() {
  const sessions = new Sessions(true);
  let client;
  const setup = (session) => ({
    configOptions: session.configOptions(),
    availableCommands: COMMANDS.map(({ input, ...rest }) => ({
      type: "command",
      ...rest,
      ...(input ? { input: { type: "text", ...input } } : {}),
    })),
  });
  const state = (session, fields) => send(client, session, { sessionUpdate: "state_update", ...fields });

  async function work(session, first) {
    const { signal } = session.controller;
    let end = {};
    const afterwards = [];
    try {
      session.queue.unshift(first);
      while (session.queue.length) {
        const prompt = session.queue.shift();
        const turn = new Turn({ client, capabilities: {}, session, draft: true, signal, prompt });
        await turn.run(DIRECTIVES);
        end = { stopReason: turn.stopReason, ...(turn.error ? { error: turn.error } : {}) };
        afterwards.push(...turn.afterwards);
      }
    } catch (error) {
      const { code = -32603, message } = error;
      end =
        error instanceof Cancelled
          ? { stopReason: "cancelled" }
          : { stopReason: "error", error: { code, message } };
    }
    session.queue = [];
    session.controller = null;
    sessions.save(session);
    await state(session, { state: "idle", ...end });
    for (const later of afterwards) later();
  }

  async function prompt({ params }) {
    const session = sessions.get(params.sessionId);
    const steps = parse(params.prompt);
    const refusal = steps.find(([name]) => name === "error");
    if (refusal) throw failure(refusal[1]);
    const late = steps.some(([name, argument]) => name === "order" && argument === "late");
    const joins = session.controller !== null;
    session.controller ??= new AbortController();
    session.counters.user = (session.counters.user ?? 0) + 1;
    const messageId = `user-${session.counters.user}`;
    const insert = async () => {
      if (!late) {
        return send(client, session, { sessionUpdate: "user_message", messageId, content: params.prompt });
      }
      for (const content of params.prompt) {
        await send(client, session, { sessionUpdate: "user_message_chunk", messageId, content });
      }
    };
    const start = async () => {
      if (!joins) return work(session, params.prompt);
      // The work may have ended while the message was inserted; then it begins anew.
      if (session.controller) return void session.queue.push(params.prompt);
      session.controller = new AbortController();
      await state(session, { state: "running" });
      return work(session, params.prompt);
    };
    if (late) {
      if (!joins) await state(session, { state: "running" });
      await insert();
      afterTheAnswer(start);
    } else {
      afterTheAnswer(async () => {
        await insert();
        if (!joins) await state(session, { state: "running" });
        await start();
      });
    }
    // The SDK's types ask for `messageId`, the published lifecycle for an empty object.
    return steps.some(([name]) => name === "messageId") ? { messageId } : {};
  }

  return v2
    .agent({ name: INFO.name })
    .onConnect((connection) => {
      client = connection.client;
    })
    .onRequest("initialize", () => ({
      protocolVersion: 2,
      info: INFO,
      authMethods: [],
      capabilities: {
        session: { prompt: { image: {}, embeddedContext: {} }, mcp: { stdio: {} }, delete: {} },
      },
    }))
    .onRequest("session/new", ({ params }) => {
      const session = sessions.create(params);
      return { sessionId: session.id, ...setup(session) };
    })
    .onRequest("session/resume", async ({ params }) => {
      const session = sessions.open(params.sessionId);
      for (const update of params.replayFrom ? [...session.history] : []) {
        await client.notify("session/update", { sessionId: session.id, update });
      }
      await state(session, { state: session.controller ? "running" : "idle" });
      return setup(session);
    })
    .onRequest("session/list", () => sessions.list())
    .onRequest("session/close", ({ params }) => sessions.close(params.sessionId))
    .onRequest("session/delete", ({ params }) => sessions.delete(params.sessionId))
    .onRequest("session/set_config_option", ({ params }) => {
      const session = sessions.get(params.sessionId);
      session.setOption(params.configId, params.value);
      return { configOptions: session.configOptions() };
    })
    .onRequest("session/prompt", prompt)
    .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId).controller?.abort());
}

const router = v2.agentProtocolRouter();
if (flags.protocol !== "2") router.withV1(agentV1());
if (flags.protocol !== "1") router.withV2(agentV2());
if (flags.http) {
  const { AcpServer } = await import("@agentclientprotocol/sdk/experimental/server");
  const { createNodeHttpHandler } = await import("@agentclientprotocol/sdk/experimental/node");
  const server = http.createServer(createNodeHttpHandler(new AcpServer({ agent: router })));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  await new Promise(() => {}); // until it is ended by a signal
}
const stream = v2.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
await router.connect(stream).closed;
process.exit(0);
