/**
 * Runs in every page before JupyterLab or Notebook does: finds the notebook, remembers runs that
 * are not over yet, counts kernel traffic and frames, and records breaches of the content policy.
 *
 * Counting happens here because the DevTools protocol would copy every frame out of the browser,
 * which is far dearer than what is measured.
 */
(() => {
  "use strict";
  let unfinished = 0; // commands that run cells and have not come back
  let measuring = false;
  let received = {};
  let sent = {};
  let frames = [];
  let longTasks = [];
  let lastFrame = 0;
  let request = 0;

  const panel = (path) => {
    for (const widget of window.jupyterapp?.shell.widgets("main") ?? [])
      if (widget.sessionContext && widget.content?.widgets && widget.context.path === path)
        return widget;
    return null;
  };

  const kernel = (path) => panel(path)?.sessionContext.session?.kernel ?? null;

  const isConnected = (path) => kernel(path)?.connectionStatus === "connected";

  const isReady = (path) => {
    const found = panel(path);
    return Boolean(found && found.context.isReady && found.content.widgets.length);
  };

  const prompt = (cell) => cell.node.querySelector(".jp-InputPrompt")?.innerText ?? "";

  const isDone = (path, index) => {
    const cell = panel(path)?.content.widgets[index];
    return Boolean(cell && cell.model.executionCount && !prompt(cell).includes("*"));
  };

  const isIdle = (path) =>
    unfinished === 0 && isConnected(path) && kernel(path).status === "idle"
      && !panel(path).content.widgets.some((cell) => prompt(cell).includes("*"));

  /** Runs a command; clears the cells first, so that an old execution count says nothing. */
  const run = (command, cells) => {
    for (const { model } of cells) if (model.type === "code") model.clearExecution();
    unfinished += 1;
    window.jupyterapp.commands.execute(command).catch(() => {}).finally(() => { unfinished -= 1; });
  };

  const runCell = (path, index) => {
    const { content } = panel(path);
    content.deselectAll();
    content.activeCellIndex = index;
    run("notebook:run-cell", [content.widgets[index]]);
  };

  const runAll = (path) => run("notebook:run-all-cells", panel(path).content.widgets);

  /** What a user sees below a cell, without the execution counts at its side. */
  const seen = (path, index) => {
    const area = panel(path).content.widgets[index]?.outputArea?.node;
    if (!area) return "";
    const outputs = area.querySelectorAll(
      ":scope > .jp-OutputArea-child > :not(.jp-OutputArea-prompt)");
    return [...outputs].map((output) => output.innerText.trim()).filter(Boolean).join("\n");
  };

  const cellFacts = (path) =>
    (panel(path)?.content.widgets ?? []).map((cell, index) => ({
      prompt: prompt(cell).trim(),
      source: cell.model.sharedModel.getSource(),
      seen: seen(path, index),
    }));

  const canComplete = (path, index) =>
    panel(path).content.widgets[index].editor?.host.classList.contains("jp-mod-completer-enabled");

  /** Calls an asynchronous function with the panel, and gives up after a time. */
  const bounded = (path, action, ms) => {
    const giveUp = (_, reject) =>
      setTimeout(() => reject(new Error(`no end within ${ms} ms of ${action}`)), ms);
    return Promise.race([action(panel(path)), new Promise(giveUp)]);
  };

  /** Numbers the cells in the document, so that a selector can name one. */
  const numberCells = (path) =>
    panel(path).content.widgets.forEach((cell, index) => {
      cell.node.dataset.cellNumber = String(index);
    });

  /** Reads channel-less header facts of `v1.kernel.websocket.jupyter.org` frames. */
  const messageType = (data) => {
    if (!(data instanceof ArrayBuffer)) return JSON.parse(data).header.msg_type;
    const view = new DataView(data);
    const offset = (part) => Number(view.getBigUint64(8 + 8 * part, true));
    const header = new Uint8Array(data, offset(1), offset(2) - offset(1));
    return JSON.parse(new TextDecoder().decode(header)).msg_type;
  };

  const tally = (counts, data) => {
    if (!measuring) return;
    const entry = (counts[messageType(data)] ??= [0, 0]);
    entry[0] += 1;
    entry[1] += data.byteLength ?? data.length;
  };

  const NativeWebSocket = window.WebSocket;
  window.WebSocket = class extends NativeWebSocket {
    #isKernel;

    constructor(url, protocols) {
      super(url, protocols);
      this.#isKernel = /\/api\/kernels\/[^/]+\/channels/.test(String(url));
      if (this.#isKernel) this.addEventListener("message", ({ data }) => tally(received, data));
    }

    send(data) {
      if (this.#isKernel) tally(sent, data);
      super.send(data);
    }
  };

  const frame = (now) => {
    if (!measuring) return;
    if (lastFrame) frames.push(now - lastFrame);
    lastFrame = now;
    request = requestAnimationFrame(frame);
  };

  new PerformanceObserver((list) => {
    if (measuring) longTasks.push(...list.getEntries().map((entry) => entry.duration));
  }).observe({ type: "longtask" });

  const startMeasuring = () => {
    received = {};
    sent = {};
    frames = [];
    longTasks = [];
    lastFrame = 0;
    measuring = true;
    cancelAnimationFrame(request); // of a measurement that has just ended
    request = requestAnimationFrame(frame);
  };

  const stopMeasuring = () => {
    measuring = false;
    return { received, sent, frames, longTasks };
  };

  document.addEventListener("securitypolicyviolation", (event) => {
    window.reportViolation(
      `${event.effectiveDirective} ${event.blockedURI} ${event.sample}`
        + ` (${event.sourceFile.split("/").pop()}:${event.lineNumber})`);
  });

  window.testPage = {
    panel, kernel, isConnected, isReady, isDone, isIdle, runCell, runAll, numberCells, seen,
    cellFacts, canComplete, bounded, startMeasuring, stopMeasuring,
  };
})();
