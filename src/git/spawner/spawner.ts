import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { platform } from 'node:os';
import { embedded } from '../../embedded/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { sendSignal } from '../processes/child.ts';
import type { Child, Launch } from '../processes/child.ts';
import type { SocketPair, SocketPairs } from './socket-pairs.ts';
import type { SpawnRequest, SpawnEvent } from './spawner-protocol.ts';

/**
 * Starts git from a small process, so that the server does not block while the system copies the page tables of a
 * large one.
 */
export interface Spawner {
  /** Returns null if there is no spawner, or no socket pair ready for the child: then the caller has to fork. */
  launch(launch: Launch): Child | null;
  /** Whether the spawner can start a child now. */
  isReady(): boolean;
  /** Starts the spawner; restarts it after an unexpected exit. */
  begin(): void;
  close(): void;
}

/** Socket pairs created in advance, so that a start waits for nothing. */
const pairsReady = 24;
const restartAfterMs = 1_000;
/** Whether an open file has a path that the spawner can open. */
const hasProc = platform() === 'linux';

/** Environment of the spawner: only the program path, nothing confidential, and one memory pool for its threads. */
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', MALLOC_ARENA_MAX: '1' };

export function createSpawner(pairs: SocketPairs, logger: Logger): Spawner {
  let running: ChildProcess | null = null;
  let isReady = false;
  let isClosed = false;
  let lastId = 0;
  let restart: NodeJS.Timeout | undefined;
  const children = new Map<number, RemoteChild>();
  const ready: SocketPair[] = [];
  let pendingPairs = 0;
  /** Sockets in transit, to be closed here if the channel breaks. */
  const inTransit = new Set<Socket>();

  function fill(): void {
    while (!isClosed && isReady && ready.length + pendingPairs < pairsReady) {
      pendingPairs += 1;
      void pairs.make().then((pair) => {
        pendingPairs -= 1;
        if (pair === null) return;
        if (isClosed) drop(pair);
        else ready.push(pair);
      });
    }
  }

  function drop({ localEnd, childEnd }: SocketPair): void {
    localEnd.destroy();
    childEnd.destroy();
  }

  /** @param theirs becomes the child's, and is closed here once it has been sent */
  function send(to: ChildProcess, order: SpawnRequest, childEnd: Socket | null): void {
    if (childEnd === null) return void to.send(order);
    inTransit.add(childEnd);
    // The bare handle: a socket would start reading in the other process.
    to.send(order, (childEnd as unknown as { _handle: never })._handle, {}, () => {
      inTransit.delete(childEnd);
      childEnd.destroy();
    });
  }

  function forgetSent(): void {
    for (const childEnd of inTransit) childEnd.destroy();
    inTransit.clear();
  }

  function begin(): void {
    if (running !== null || isClosed) return;
    const { program, args } = embedded.programOf('git-spawner');
    const started = spawn(program, args, { env: environment, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    running = started;
    started.on('message', (report: SpawnEvent) => handle(report));
    started.on('error', (error) => logger.warn('git.spawner_failed', { error }));
    started.once('exit', (code, signal) => ended(code, signal));
    // Does not keep the server alive: the spawner exits with it.
    started.unref();
    started.channel?.unref();
  }

  function handle(report: SpawnEvent): void {
    if (report.kind === 'ready') {
      isReady = true;
      return fill();
    }
    children.get(report.id)?.handle(report);
    if (report.kind === 'closed' || (report.kind === 'started' && report.pid === 0)) children.delete(report.id);
  }

  function ended(code: number | null, signal: NodeJS.Signals | null): void {
    running = null;
    isReady = false;
    if (isClosed) return;
    logger.warn('git.spawner_ended', { code, signal, children: children.size });
    // Their exit will not be reported anymore.
    for (const child of children.values()) child.lose();
    children.clear();
    forgetSent();
    restart = setTimeout(begin, restartAfterMs);
    restart.unref();
  }

  return {
    begin,
    isReady: () => isReady && ready.length === pairsReady,
    launch({ program, argv, environment, home, takesInput, output, yields }) {
      const needed = (takesInput ? 1 : 0) + (output === undefined ? 1 : 0);
      if (running === null || !isReady || ready.length < needed || (typeof output === 'number' && !hasProc))
        return null;
      const id = ++lastId;
      const input = takesInput ? ready.pop()! : null;
      const outputPair = output === undefined ? ready.pop()! : null;
      fill();
      const child = new RemoteChild(input?.localEnd ?? null, outputPair?.localEnd ?? null);
      children.set(id, child);
      if (input !== null) send(running, { id, kind: 'input' }, input.childEnd);
      const file = typeof output === 'number' ? `/proc/${process.pid}/fd/${output}` : null;
      send(
        running,
        { id, kind: 'start', program, argv, environment, home, takesInput, file, yields },
        outputPair?.childEnd ?? (typeof output === 'object' ? output : null),
      );
      return child;
    },
    close() {
      isClosed = true;
      clearTimeout(restart);
      for (const pair of ready.splice(0)) drop(pair);
      forgetSent();
      running?.disconnect();
    },
  };
}

/** A child of the spawner, updated by its messages. */
class RemoteChild implements Child {
  readonly stdin: Socket | null;
  readonly stdout: Socket | null;
  pid = 0;
  hasExited = false;
  usedMs: number | null = null;
  #errorText = '';
  #waiting: [name: NodeJS.Signals, group: boolean][] = [];
  readonly #exited = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<number | null>();

  constructor(stdin: Socket | null, stdout: Socket | null) {
    this.stdin = stdin;
    this.stdout = stdout;
    // Resumed only to notice the close of the other end.
    stdin?.resume();
  }

  handle(report: Exclude<SpawnEvent, { kind: 'ready' }>): void {
    if (report.kind === 'started') {
      this.pid = report.pid;
      for (const [name, group] of this.#waiting.splice(0)) this.signal(name, group);
      if (report.pid === 0) this.lose();
    } else {
      if (report.kind === 'exited') this.usedMs = report.usedMs;
      this.#exit();
      if (report.kind === 'closed') {
        this.#errorText = report.errorText;
        this.#close(report.code);
      }
    }
  }

  /** Marks the child as lost: its exit code will never be known. */
  lose(): void {
    this.signal('SIGTERM', true);
    this.#exit();
    this.#close(null);
  }

  signal(name: NodeJS.Signals, group: boolean): void {
    if (this.pid === 0) this.#waiting.push([name, group]);
    else sendSignal(group ? -this.pid : this.pid, name);
  }

  onExit(callback: () => void): void {
    void this.#exited.promise.then(callback);
  }

  onClose(callback: (code: number | null) => void): void {
    void this.#closed.promise.then(callback);
  }

  stderrText(): string {
    return this.#errorText;
  }

  #exit(): void {
    this.hasExited = true;
    this.#exited.resolve();
  }

  /** Its output may still be in the connection when the spawner reports its exit. */
  #close(code: number | null): void {
    const { stdout } = this;
    if (stdout === null || stdout.closed) this.#closed.resolve(code);
    else stdout.once('close', () => this.#closed.resolve(code));
  }
}
