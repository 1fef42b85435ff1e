// What each `[[directive]]` of a prompt makes the test agent do. The table is in README.md.
//
// No directive waits on a clock; only `background` does, because it is about what comes later.

import { RequestError } from "@agentclientprotocol/sdk";
import { Cancelled, base64, text } from "./turn.mjs";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const BACKGROUND_MS = 50;
const OPTIONS = [
  { optionId: "yes-once", name: "Yes, this time", kind: "allow_once" },
  { optionId: "yes-always", name: "Yes, from now on", kind: "allow_always" },
  { optionId: "no-once", name: "No, not this time", kind: "reject_once" },
  { optionId: "no-always", name: "No, never", kind: "reject_always" },
];

const said = (words) => ({ type: "content", content: text(words) });

// ---------------------------------------------------------------- messages

const say = (turn, argument = "") => turn.say(argument);
const env = (turn, name) => turn.say(`${name}=${process.env[name] ?? "(unset)"}`);
const echo = (turn) => turn.say(JSON.stringify(turn.prompt));

async function chunks(turn, argument = "") {
  const [count = 3, size = 8] = argument.split(":").filter(Boolean).map(Number);
  const id = turn.id("msg");
  for (let index = 0; index < count; index++) {
    await turn.chunk(text(`${index} `.padEnd(size, "x").slice(0, size)), id);
  }
}

const think = (turn, argument = "Let me think.") =>
  turn.chunk(text(argument), turn.id("thought"), "agent_thought_chunk");

async function image(turn) {
  const seen = turn.prompt.filter((block) => block.type === "image").length;
  await turn.say(`images seen: ${seen}`);
  await turn.chunk({ type: "image", data: PIXEL, mimeType: "image/png" }, turn.id("msg"));
}

async function replace(turn, argument) {
  if (!turn.draft) return turn.onlyIn(2, "replace");
  const messageId = turn.id("msg");
  const whole = (fields) => turn.update({ sessionUpdate: "agent_message", messageId, ...fields });
  await whole({ content: [text("A")] });
  await turn.chunk(text("B"), messageId);
  await whole({ content: [text("C")] });
  await turn.chunk(text("D"), messageId);
  await whole({ _meta: { "test-agents": { touched: true } } });
  if (argument !== "keep") await whole({ content: null });
}

// ---------------------------------------------------------------- plan, usage, session details

async function plan(turn) {
  const planId = turn.id("plan");
  for (const statuses of [["in_progress", "pending"], ["completed", "in_progress"]]) {
    const entries = statuses.map((status, index) => ({
      content: ["Read the cell", "Run the cell"][index],
      priority: ["high", "low"][index],
      status,
    }));
    await turn.update(
      turn.draft
        ? { sessionUpdate: "plan_update", plan: { type: "items", planId, entries } }
        : { sessionUpdate: "plan", entries },
    );
  }
}

const usage = (turn, argument) =>
  turn.update(
    argument === "odd"
      ? { sessionUpdate: "usage_update", used: 10, size: 0, cost: null }
      : {
          sessionUpdate: "usage_update",
          used: 53000,
          size: 200000,
          cost: { amount: 0.045, currency: "USD" },
        },
  );

async function mode(turn, argument) {
  const next = argument ?? (turn.session.options.mode === "ask" ? "trust" : "ask");
  turn.session.options.mode = next;
  await turn.update(
    turn.draft
      ? { sessionUpdate: "config_option_update", configOptions: turn.session.configOptions() }
      : { sessionUpdate: "current_mode_update", currentModeId: next },
  );
}

const title = (turn, argument = null) => {
  turn.session.title = argument;
  return turn.update({ sessionUpdate: "session_info_update", title: argument });
};
const commands = (turn) =>
  turn.update({ sessionUpdate: "available_commands_update", availableCommands: [] });
const notice = (turn, argument = "A notice") =>
  turn.update({ sessionUpdate: "notice", severity: "warning", title: argument });

// ---------------------------------------------------------------- tool calls

async function tool(turn, argument) {
  const id = turn.id("call");
  const rawInput = { pattern: "needle" };
  await turn.announce(id, { title: "Search the files", kind: "search", status: "pending", rawInput });
  await turn.tool(id, {
    status: "in_progress",
    locations: [{ path: `${turn.session.cwd}/notes.txt`, line: 3 }],
  });
  const failed = argument === "fail";
  const end = {
    status: failed ? "failed" : "completed",
    rawOutput: failed ? { error: "no such folder" } : { hits: 2 },
  };
  if (!turn.draft) return turn.tool(id, { ...end, content: [said("first hit"), said("second hit")] });
  for (const hit of ["first hit", "second hit"]) {
    const sessionUpdate = "tool_call_content_chunk";
    await turn.update({ sessionUpdate, toolCallId: id, content: said(hit) });
  }
  if (argument === "replace") end.content = [said("two hits")];
  await turn.tool(id, end);
}

async function diff(turn) {
  const id = turn.id("call");
  const path = `${turn.session.cwd}/notes.txt`;
  const added = `${turn.session.cwd}/new.txt`;
  const patch = [
    `diff --git a${path} b${path}`,
    `--- a${path}`,
    `+++ b${path}`,
    "@@ -1,2 +1,2 @@",
    " first",
    "-second",
    "+changed",
    "",
  ].join("\n");
  const content = turn.draft
    ? [
        {
          type: "diff",
          changes: [{ operation: "modify", path, fileType: "text", mimeType: "text/plain" }],
          patch: { format: "git_patch", text: patch },
        },
        {
          type: "diff",
          changes: [
            { operation: "add", path: added, fileType: "text" },
            { operation: "move", oldPath: `${turn.session.cwd}/a.bin`, path: `${turn.session.cwd}/b.bin` },
          ],
        },
      ]
    : [
        { type: "diff", path, oldText: "first\nsecond\n", newText: "first\nchanged\n" },
        { type: "diff", path: added, oldText: null, newText: "brand new\n" },
      ];
  await turn.announce(id, { title: "Edit notes.txt", kind: "edit", status: "in_progress", content });
  await turn.tool(id, { status: "completed" });
}

async function terminal(turn) {
  const id = turn.id("call");
  const call = { title: "Run the tests", kind: "execute", status: "in_progress" };
  if (!turn.draft) return terminalOfTheClient(turn, id, call);
  const terminalId = turn.id("term");
  const state = (fields) => turn.update({ sessionUpdate: "terminal_update", terminalId, ...fields });
  const bytes = (data) =>
    turn.update({ sessionUpdate: "terminal_output_chunk", terminalId, data: base64(data) });
  // The reference comes before the terminal it refers to; both orders are allowed.
  await turn.announce(id, { ...call, content: [{ type: "terminal", terminalId }] });
  await state({ command: "run-tests", cwd: turn.session.cwd });
  await bytes("overwritten by the snapshot");
  const euro = Buffer.from("€");
  await state({ output: { data: base64("price: ") } });
  await bytes(euro.subarray(0, 2));
  await bytes(Buffer.concat([euro.subarray(2), Buffer.from("\n\x1b[3")]));
  await bytes("1mred\x1b[0m\n");
  await state({ exitStatus: { exitCode: 0, signal: null } });
  await turn.tool(id, { status: "completed" });
}

async function terminalOfTheClient(turn, id, call) {
  const sessionId = turn.session.id;
  if (!turn.capabilities.terminal) {
    await turn.announce(id, { ...call, content: [said("price: €\n\x1b[31mred\x1b[0m\n")] });
    return turn.tool(id, { status: "completed" });
  }
  const request = { sessionId, command: "printf", args: ["price: €\\n"], cwd: turn.session.cwd };
  const { terminalId } = await turn.client.request("terminal/create", request);
  const its = { sessionId, terminalId };
  await turn.announce(id, { ...call, content: [{ type: "terminal", terminalId }] });
  await turn.client.request("terminal/wait_for_exit", its);
  const { output } = await turn.client.request("terminal/output", its);
  await turn.client.request("terminal/release", its);
  await turn.tool(id, { status: "completed" });
  await turn.say(`terminal: ${JSON.stringify(output)}`);
}

/** v1 `fs/*` methods of the client: `[[fs:read:PATH]]`, `[[fs:write:PATH]]`. */
async function fs(turn, argument = "") {
  if (turn.draft) return turn.onlyIn(1, "fs");
  const [action, ...rest] = argument.split(":");
  const its = { sessionId: turn.session.id, path: rest.join(":") };
  try {
    const request = action === "write" ? { ...its, content: "written by the agent\n" } : its;
    const answer = await turn.client.request(`fs/${action}_text_file`, request);
    await turn.say(`fs: ${JSON.stringify(answer)}`);
  } catch (error) {
    await turn.say(`fs: error ${error.code}`);
  }
}

// ---------------------------------------------------------------- questions to the user

function question(turn, argument) {
  const toolCall = {
    toolCallId: turn.id("call"),
    title: "Delete the results",
    kind: "delete",
    status: "pending",
    rawInput: { path: `${turn.session.cwd}/results.csv` },
  };
  if (!turn.draft) return { toolCall, options: OPTIONS };
  const command = { type: "command", command: "rm results.csv", cwd: turn.session.cwd };
  const subject = {
    command: { ...command, toolCallId: toolCall.toolCallId },
    odd: { type: "_network", host: "example.org" },
  }[argument] ?? { type: "tool_call", toolCall };
  const odd = { optionId: "odd", name: "Perhaps", kind: "_perhaps" };
  return {
    title: "May it be deleted?",
    description: "The file cannot be brought back.",
    subject,
    options: argument === "odd" ? [...OPTIONS, odd] : OPTIONS,
    toolCall,
  };
}

async function permission(turn, argument) {
  const asked = (argument === "two" ? [0, 1] : [0]).map(() => question(turn, argument));
  for (const { toolCall } of asked) {
    const { toolCallId, ...fields } = toolCall;
    await turn.announce(toolCallId, fields);
  }
  const withdrawal = new AbortController();
  const requests = asked.map(({ toolCall, ...rest }) => (turn.draft ? rest : { toolCall, ...rest }));
  const answers = await turn.ask("session/request_permission", requests, {
    cancellationSignal: withdrawal.signal,
    whenAsked: () => argument === "withdraw" && withdrawal.abort(),
  });
  for (const [index, { result, error }] of answers.entries()) {
    const id = asked[index].toolCall.toolCallId;
    const { outcome, optionId } = result?.outcome ?? { outcome: "error", optionId: error?.code };
    await turn.say(`permission ${id}: ${[outcome, optionId].filter(Boolean).join(" ")}`);
    if (String(optionId).startsWith("yes")) {
      await turn.tool(id, { status: "in_progress" });
      await turn.tool(id, { status: "completed" });
    } else await turn.tool(id, { status: turn.draft ? "cancelled" : "failed" });
  }
}

async function elicit(turn, argument) {
  const elicitationId = turn.id("elicitation");
  const url = "https://example.org/sign-in?from=test";
  const requestedSchema = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", title: "Name", minLength: 1 },
      count: { type: "integer", title: "How many", minimum: 1, maximum: 9, default: 3 },
      sure: { type: "boolean", title: "Sure?", default: true },
    },
  };
  const request =
    argument === "url"
      ? { mode: "url", message: "Sign in there, please.", elicitationId, url }
      : { mode: "form", message: "Some details, please.", requestedSchema };
  const [{ result, error }] = await turn.ask("elicitation/create", [request]);
  if (argument === "url") await turn.client.notify("elicitation/complete", { elicitationId });
  await turn.say(`elicitation: ${result ? JSON.stringify(result) : `error ${error.code}`}`);
}

// ---------------------------------------------------------------- the unexpected

async function unknown(turn) {
  await turn.update({ sessionUpdate: "_test_update", anything: [1, { deep: true }] });
  await turn.update({ sessionUpdate: "from_the_future", text: "unknown update" });
  await turn.chunk({ type: "_hologram", text: "unknown block", shape: "cube" }, turn.id("msg"));
  const id = turn.id("call");
  await turn.announce(id, { title: "An odd tool", kind: "_odd_kind", status: "_odd_status" });
  await turn.tool(id, { content: [{ type: "_odd_content", value: 1 }] });
  if (turn.draft) {
    await turn.update({ sessionUpdate: "plan_update", plan: { type: "_odd", planId: "odd" } });
    await turn.state("_compacting");
    await turn.state("running");
  }
  await turn.tool(id, { status: "completed" });
}

async function background(turn) {
  const id = turn.id("call");
  await turn.announce(id, { title: "Watch the folder", kind: "other", status: "in_progress" });
  turn.afterwards.push(() => {
    setTimeout(async () => {
      await turn.tool(id, { status: "completed" });
      await turn.say("the background work is done");
    }, BACKGROUND_MS);
  });
}

function stop(turn, argument = "end_turn") {
  turn.stopReason = argument;
  if (argument === "error") turn.error = { code: -32603, message: "the model is overloaded" };
}

async function hang(turn) {
  await turn.untilCancelled();
  throw new Cancelled();
}

async function cancelLate(turn) {
  const id = turn.id("call");
  await turn.announce(id, { title: "A slow tool", kind: "execute", status: "in_progress" });
  await turn.untilCancelled();
  await turn.tool(id, { status: "completed" });
  throw new Cancelled();
}

/** The error of `[[error:CODE:MESSAGE]]`. In v2 it is the answer, so nothing else happens. */
export function failure(argument = "") {
  const [code, ...words] = argument.split(":");
  const message = words.join(":") || "the test agent was told to fail";
  return new RequestError(Number(code) || -32603, message, { details: `details of: ${message}` });
}

const error = (_turn, argument) => {
  throw failure(argument);
};

const exit = (_turn, argument) => process.exit(Number(argument ?? 0));

function stderr(_turn, argument = "1000") {
  const line = "a line on stderr, which is for people and not for the protocol\n";
  const words = line.repeat(Math.ceil(Number(argument) / line.length)).slice(0, Number(argument));
  return new Promise((done) => process.stderr.write(words, done));
}

export const DIRECTIVES = {
  say, env, echo, chunks, think, image, replace, plan, usage, mode, title, commands, notice,
  tool, diff, terminal, fs, permission, elicit, unknown, background, stop, hang,
  "cancel-late": cancelLate, error, exit, stderr,
};
