// sendPush(git, path, {commands, pack, …}) → {outcome, response}: one push, written packet by packet to
// git.transfers.receivePack.
// packOf(workTree, revisions) → a pack with everything reachable from those revisions. readAnswer(bytes) → {remarks,
// failure, report}: a parsed side-band response.
import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import type { Git, ProposedPush, PushHooks, PushOutcome, PushRequest, RefResult } from '../../src/git/index.ts';
import { PacketReader } from '../../src/git/pkt-line.ts';
import { clientEnvironment } from './git-fixture.ts';

export const zeroId = '0'.repeat(40);
export const defaultCapabilities = 'report-status side-band-64k object-format=sha1 agent=git/test';

interface RawPush {
  /** `old new ref` lines. */
  commands: readonly (string | Buffer)[];
  capabilities?: string;
  /** Push options; sent only when the capabilities name them. */
  options?: readonly string[];
  pack?: Buffer;
}

/** The bytes of a push, as a client sends them after the advertisement. */
export function pushBytes({ commands, capabilities = defaultCapabilities, options, pack }: RawPush): Buffer {
  const lines = commands.map((line, at) => {
    const tail = at === 0 ? Buffer.from(`\0 ${capabilities}`) : Buffer.alloc(0);
    return encodePacket(Buffer.concat([Buffer.from(line as string), tail]));
  });
  const section = options === undefined ? [] : [...options.map((option) => encodePacket(option)), flushPacket];
  return Buffer.concat([...lines, flushPacket, ...section, pack ?? Buffer.alloc(0)]);
}

interface HookRecorder extends PushHooks {
  pushes: ProposedPush[];
  results: RefResult[][];
}

/** Hooks that accept, and record their calls. */
export function createHookRecorder(
  verdict: Awaited<ReturnType<PushHooks['preReceive']>> = { accept: true },
): HookRecorder {
  const pushes: HookRecorder['pushes'] = [];
  const results: RefResult[][] = [];
  return {
    pushes,
    results,
    async preReceive(push) {
      pushes.push(push);
      return verdict;
    },
    async postReceive(result) {
      results.push(result);
    },
  };
}

interface Sent {
  input: PassThrough;
  output: PassThrough;
  /** Aborts as a transport does when the client has gone. */
  gone: AbortController;
  outcome: Promise<PushOutcome>;
  /** What the client has received so far. */
  response(): Buffer;
}

/** Opens a push without sending anything. */
export function openPush(
  git: Git,
  path: string,
  seen: PushHooks = createHookRecorder(),
  more: Pick<PushRequest, 'stallMs' | 'stateless' | 'extraFolders'> = {},
): Sent {
  const [input, output, gone] = [new PassThrough(), new PassThrough(), new AbortController()];
  const responded: Buffer[] = [];
  output.on('data', (chunk: Buffer) => responded.push(chunk));
  const outcome = git.transfers.receivePack({ path, input, output, signal: gone.signal, hooks: seen, ...more });
  return { input, output, gone, outcome, response: () => Buffer.concat(responded) };
}

/** Sends a whole push. @param ends false leaves the client's side open, as over SSH */
export async function sendPush(
  git: Git,
  path: string,
  bytes: Buffer,
  seen: PushHooks = createHookRecorder(),
  ends = true,
) {
  const push = openPush(git, path, seen);
  push.input.write(bytes);
  if (ends) push.input.end();
  const outcome = await push.outcome;
  return { outcome, response: push.response() };
}

export function readResponse(bytes: Buffer): { remarks: string; failure: string; report: string[] } {
  const outer = new PacketReader();
  const bands = ['', '', '', ''];
  outer.push(bytes);
  for (let packet = outer.next(); packet !== null; packet = outer.next()) {
    if (packet.kind === 'data') bands[packet.data[0]!] += packet.data.toString('latin1', 1);
  }
  return { remarks: bands[2]!, failure: bands[3]!, report: packetLines(Buffer.from(bands[1]!, 'latin1')) };
}

export function packetLines(bytes: Buffer): string[] {
  const reader = new PacketReader();
  reader.push(bytes);
  const lines: string[] = [];
  for (let packet = reader.next(); packet !== null; packet = reader.next()) {
    lines.push(packet.kind === 'data' ? packet.data.toString('utf8').trimEnd() : packet.kind);
  }
  return lines;
}

/** @param revisions as for `git rev-list`; `^x` excludes what is reachable from x */
export function packOf(workTree: string, ...revisions: string[]): Buffer {
  return execFileSync('git', ['pack-objects', '--revs', '--stdout', '--quiet', '--thin'], {
    cwd: workTree,
    env: clientEnvironment,
    input: `${revisions.join('\n')}\n`,
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: 2 ** 30,
  });
}
