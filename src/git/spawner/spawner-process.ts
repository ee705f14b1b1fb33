/**
 * The spawner: a process that only starts git. A fork blocks the parent while the system copies its page tables, and
 * this process has a small memory. It exits with the server.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { collectStderr, lowerPriority } from '../processes/child.ts';
import { createExitedTally } from '../processes/cpu-time-account.ts';
import type { SpawnRequest, SpawnEvent } from './spawner-protocol.ts';

/** One end of a connection that is not read here: Node passes it on unread. */
interface Handle {
  close(): void;
}

// Its allocations are short-lived: a larger young generation would only take memory.
setFlagsFromString('--semi-space-growth-factor=1');

const takeUsed = createExitedTally();
const inputs = new Map<number, Handle>();

const report = (what: SpawnEvent): void => void process.send?.(what);

function start(order: Extract<SpawnRequest, { kind: 'start' }>, output: Handle | undefined): void {
  const { id, program, argv, environment, home, takesInput, file, yields } = order;
  const input = inputs.get(id);
  inputs.delete(id);
  let opened: number | undefined;
  try {
    if (file !== null) opened = openSync(file, constants.O_WRONLY);
    const child = spawn(program, argv, {
      cwd: home,
      env: environment,
      detached: true,
      stdio: [takesInput ? (input as never) : 'ignore', opened ?? (output as never), 'pipe'],
    });
    const errorText = collectStderr(child.stderr);
    child.on('error', () => {});
    const { pid = 0 } = child;
    if (yields && pid !== 0) lowerPriority(pid);
    report({ id, kind: 'started', pid });
    if (pid === 0) return;
    child.once('exit', () => report({ id, kind: 'exited', usedMs: takeUsed() }));
    child.once('close', (code) => report({ id, kind: 'closed', code, errorText: errorText() }));
  } catch {
    report({ id, kind: 'started', pid: 0 });
  } finally {
    input?.close();
    output?.close();
    if (opened !== undefined) closeSync(opened);
  }
}

process.on('message', (order: SpawnRequest, handle?: unknown) => {
  if (order.kind === 'input') inputs.set(order.id, handle as Handle);
  else start(order, handle as Handle | undefined);
});
process.on('disconnect', () => process.exit(0));
// A termination signal for the server may go to its whole process group; running pushes still need their last reports.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
report({ kind: 'ready' });
