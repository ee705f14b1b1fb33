import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface RecordedCodeCache {
  bytes: Uint8Array;
  /** Whether a start runs the chunk; others may take longer to load. */
  runsAtStart: boolean;
}

/**
 * With these, two builds record the same bytes. V8's seed is in the hashes of the strings of a cache, the padding of
 * its bytecode has the bytes that were in memory before, and functions are marked when they become hot: the seed is
 * fixed, freed memory is cleared, and nothing is optimised. The heap is so large that a start collects nothing, and one
 * that takes minutes under emulation does not collect because it is idle. The executable itself has a random seed; V8
 * hashes anew what it loads.
 */
const reproducible = [
  ...['--random-seed=1', '--min-semi-space-size=128', '--max-semi-space-size=128', '--initial-heap-size=1024'],
  ...['--clear-free-memory', '--no-memory-reducer', '--no-opt', '--no-maglev', '--no-sparkplug'],
];

/**
 * V8 numbers functions in the order in which they were compiled, which depends on the order in which files were read.
 * Each recording begins at another number: what moved with it is such a number, of 32 bits, and 0 is written. V8
 * compares these numbers only in its logs.
 */
const firstNumberOf = (recording: number): number => recording * 0x20000;
/** The order moves a number by less than this: a start compiles some 30,000 functions. */
const orderMoves = 0x10000;
/** Anything else that differs (a rare bit) is decided by a majority of this lead, else by further recordings. */
const leadOfMajority = 2;
const recordings = { fewest: 3, most: 9 };

/** Where a cache states the flags of V8 that it was made with: the executable's own are written there. */
const flagHash = { start: 12, end: 16 };

/**
 * Runs the recording executable with typical commands and collects, per chunk, V8's code cache of the functions that
 * ran in its main thread. V8 rejects a cache of another build or other flags; a start is then slower, not wrong.
 * @param options.chunks the chunk names
 * @param options.reproducible whether another build has to give the same bytes: takes three starts or more, not one
 * @param options.emulator program and arguments that run an executable of another processor
 */
export async function recordCodeCache(options: {
  recorder: string;
  chunks: string[];
  workFolder: string;
  reproducible?: boolean;
  emulator?: readonly string[];
}): Promise<Map<string, RecordedCodeCache>> {
  const { recorder, chunks, workFolder, emulator = [] } = options;
  const command = [...emulator, recorder];
  const record = async (name: string, firstNumber: number): Promise<string> => {
    const folder = join(workFolder, name);
    await mkdir(folder);
    await recordVersion(command, join(folder, 'version'), firstNumber);
    await recordServe(command, join(folder, 'serve'), join(folder, 'data'), firstNumber);
    return folder;
  };
  const flags = await flagsOf(command, join(workFolder, 'flags'), chunks);
  const folder = await record('once', 0);
  // A chunk that the shortest command needs contains only what that command runs.
  const bestOf = (name: string): string => {
    const candidates = ['version/ran', 'serve/ran', 'serve/idle'].map((kind) => join(kind, name));
    const best = candidates.find((file) => existsSync(join(folder, file)));
    if (!best) throw new Error(`Nothing was recorded for ${name}`);
    return best;
  };
  const files = new Map(chunks.map((name) => [name, bestOf(name)]));
  const sameFunctions = async (other: string): Promise<boolean> => {
    const sizes = async (of: string) => Promise.all([...files.values()].map((file) => sizeOf(join(of, file))));
    return String(await sizes(other)) === String(await sizes(folder));
  };
  const folders = [folder];
  const recordAnother = async (): Promise<void> => {
    const recording = folders.length;
    // On a busy machine a timer may have run in one of them.
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const other = await record(`recording-${recording}-${attempt}`, firstNumberOf(recording));
      if (await sameFunctions(other)) return void folders.push(other);
    }
    throw new Error('Each start compiles other functions: build while the machine is idle');
  };
  const settle = async (file: string): Promise<Buffer> => {
    for (;;) {
      const recorded = await Promise.all(folders.map((from) => readFile(join(from, file))));
      const settled = settleDifferences(recorded);
      if (settled) return settled;
      if (folders.length === recordings.most)
        throw new Error(`${recordings.most} starts do not agree about ${file}: build while the machine is idle`);
      await recordAnother();
    }
  };
  while (options.reproducible && folders.length < recordings.fewest) await recordAnother();

  const code = new Map<string, RecordedCodeCache>();
  for (const [name, file] of files) {
    const bytes = options.reproducible ? await settle(file) : await readFile(join(folder, file));
    bytes.set(flags, flagHash.start);
    code.set(name, { bytes, runsAtStart: !file.includes('/idle/') });
  }
  return code;
}

/** Null when the file is not there. */
const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then(
    ({ size }) => size,
    () => null,
  );

/**
 * What the recordings agree about, with 0 for each number of a function.
 * @param recorded caches of equal length, in the order of their recordings
 * @returns null when a byte has no majority yet
 */
export function settleDifferences(recorded: readonly Buffer[]): Buffer | null {
  const [first, ...others] = recorded as [Buffer, ...Buffer[]];
  const settled = Buffer.from(first);
  const isNumber = (at: number): boolean =>
    at >= 0 &&
    at + 4 <= first.length &&
    others.every((other, index) => {
      const moved = (other.readUInt32LE(at) - first.readUInt32LE(at) - firstNumberOf(index + 1)) | 0;
      return Math.abs(moved) < orderMoves;
    });
  for (let at = 0; at < first.length; at += 1) {
    if (others.every((other) => other[at] === first[at])) continue;
    const number = [at, at - 1, at - 2, at - 3].find(isNumber);
    if (number !== undefined) {
      settled.writeUInt32LE(0, number);
      continue;
    }
    const value = majority(recorded.map((bytes) => bytes[at]!));
    if (value === null) return null;
    settled[at] = value;
  }
  return settled;
}

/** Null when no value leads. */
function majority(values: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [best, second] = [...counts].sort(([, one], [, other]) => other - one);
  return best![1] - (second?.[1] ?? 0) >= leadOfMajority ? best![0] : null;
}

/** The hash of the flags that the executable runs with. */
async function flagsOf(command: readonly string[], folder: string, chunks: string[]): Promise<Uint8Array> {
  await recordVersion(command, folder, 0, ['--random-seed=1']);
  const file = ['ran', 'idle'].map((kind) => join(folder, kind, chunks[0]!)).find(existsSync)!;
  return (await readFile(file)).subarray(flagHash.start, flagHash.end);
}

const nodeOptions = (words: readonly string[]): string => `--node-options=${words.join(' ')}`;

async function recordVersion(
  [program, ...words]: readonly string[],
  folder: string,
  firstNumber: number,
  options: readonly string[] = reproducible,
): Promise<void> {
  await promisify(execFile)(program!, [...words, nodeOptions(options), '--version'], {
    env: { PATH: process.env['PATH'], HEARTH_RECORD_FOLDER: folder, HEARTH_RECORD_SHIFT: String(firstNumber) },
  });
}

async function recordServe(
  [program, ...words]: readonly string[],
  folder: string,
  dataFolder: string,
  firstNumber: number,
): Promise<void> {
  const child = spawn(program!, [...words, nodeOptions(reproducible), 'serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HEARTH_RECORD_FOLDER: folder,
      HEARTH_RECORD_SHIFT: String(firstNumber),
      SERVICE_DATA_DIR: dataFolder,
      SERVICE_HTTP_LISTEN: '127.0.0.1:0',
      SERVICE_SSH_LISTEN: '127.0.0.1:0',
      SERVICE_GRPC_LISTEN: '127.0.0.1:0',
    },
  });
  let output = '';
  const address = await new Promise<string>((resolve, reject) => {
    const listen = (text: string): void => {
      output += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    child.on('exit', (exitCode) => reject(new Error(`The recording executable ended with ${exitCode}: ${output}`)));
    setTimeout(() => reject(new Error(`The recording executable does not get ready: ${output}`)), 900_000).unref();
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  await fetch(`${address}/healthz`);
  child.kill('SIGTERM');
  await once(child, 'exit');
}
