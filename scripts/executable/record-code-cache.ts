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
/**
 * Whether a start compiles one function more, or a rare bit is set, may be chance. The fewest recordings have to agree;
 * what differs needs a majority with this lead, else further recordings, so that two builds do not pass with one chance
 * each: the last of them ends the build.
 */
const recordings = { fewest: 3, lead: 4, most: 9 };

/** Where a cache states the flags of V8 that it was made with: the executable's own are written there. */
const flagHash = { start: 12, end: 16 };

interface Recording {
  folder: string;
  firstNumber: number;
  /** Of each chunk its cache of the shortest command that needs it, so that it contains only what that command runs. */
  files: Map<string, string>;
  /** These files and their sizes: another one when another function was compiled. */
  shape: string;
}

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
  const flags = await flagsOf(command, join(workFolder, 'flags'), chunks);
  const made = [await record(command, join(workFolder, 'recording-0'), chunks, 0)];
  const recordAnother = async (): Promise<void> => {
    const number = made.length;
    made.push(await record(command, join(workFolder, `recording-${number}`), chunks, firstNumberOf(number)));
  };
  while (options.reproducible && made.length < recordings.fewest) await recordAnother();
  for (;;) {
    const code = new Map<string, RecordedCodeCache>();
    let disputed = 'which functions a start compiles';
    const shape = options.reproducible ? agreementOf(made.map((each) => each.shape)) : made[0]!.shape;
    const agreed = made.filter((each) => each.shape === shape);
    for (const [name, file] of agreed[0]?.files ?? []) {
      const recorded = await Promise.all(
        agreed.map(async ({ folder, firstNumber }) => ({ bytes: await readFile(join(folder, file)), firstNumber })),
      );
      const bytes = options.reproducible ? settleDifferences(recorded) : recorded[0]!.bytes;
      disputed = name;
      if (!bytes) break;
      bytes.set(flags, flagHash.start);
      code.set(name, { bytes, runsAtStart: !file.includes('/idle/') });
    }
    if (code.size === chunks.length) return code;
    if (made.length === recordings.most)
      throw new Error(`${recordings.most} starts do not agree about ${disputed}: build while the machine is idle`);
    await recordAnother();
  }
}

async function record(
  command: readonly string[],
  folder: string,
  chunks: readonly string[],
  firstNumber: number,
): Promise<Recording> {
  await mkdir(folder);
  await recordVersion(command, join(folder, 'version'), firstNumber);
  await recordServe(command, join(folder, 'serve'), join(folder, 'data'), firstNumber);
  const files = new Map<string, string>();
  const sizes: string[] = [];
  for (const name of chunks) {
    const candidates = ['version/ran', 'serve/ran', 'serve/idle'].map((kind) => join(kind, name));
    const file = candidates.find((candidate) => existsSync(join(folder, candidate)));
    if (!file) throw new Error(`Nothing was recorded for ${name}`);
    files.set(name, file);
    sizes.push(`${file} ${(await stat(join(folder, file))).size}`);
  }
  return { folder, firstNumber, files, shape: sizes.join('\n') };
}

/**
 * What the recordings agree about, with 0 for each number of a function.
 * @param recorded caches of equal length
 * @returns null when a byte has no majority yet, or may belong to one number or to another
 */
export function settleDifferences(recorded: readonly { bytes: Buffer; firstNumber: number }[]): Buffer | null {
  const [first, ...others] = recorded as [(typeof recorded)[0], ...typeof recorded];
  const settled = Buffer.from(first.bytes);
  const isNumber = (at: number): boolean =>
    at >= 0 &&
    at + 4 <= settled.length &&
    others.every(({ bytes, firstNumber }) => {
      const moved = bytes.readUInt32LE(at) - first.bytes.readUInt32LE(at) - (firstNumber - first.firstNumber);
      return Math.abs(moved | 0) < orderMoves;
    });
  for (let at = 0; at < settled.length; at += 1) {
    if (others.every(({ bytes }) => bytes[at] === first.bytes[at])) continue;
    const numbers = [at - 3, at - 2, at - 1, at].filter(isNumber);
    if (numbers.length > 1) return null;
    if (numbers.length === 1) {
      settled.writeUInt32LE(0, numbers[0]!);
      continue;
    }
    const value = agreementOf(recorded.map(({ bytes }) => bytes[at]!));
    if (value === null) return null;
    settled[at] = value;
  }
  return settled;
}

/** What all values are, or a majority that leads far enough; null when neither is so. */
function agreementOf<Value>(values: readonly Value[]): Value | null {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [best, second] = [...counts].sort(([, one], [, other]) => other - one);
  const isAgreed = second ? best![1] - second[1] >= recordings.lead : best![1] >= recordings.fewest;
  return isAgreed ? best![0] : null;
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
  const address = new Promise<string>((resolve, reject) => {
    const listen = (text: string): void => {
      output += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    child.on('exit', (exitCode) => reject(new Error(`The recording executable ended with ${exitCode}: ${output}`)));
    setTimeout(() => reject(new Error(`The recording executable does not get ready: ${output}`)), 900_000).unref();
  });
  try {
    await fetch(`${await address}/healthz`);
    child.kill('SIGTERM');
    const [exitCode] = await once(child, 'exit');
    if (exitCode !== 0) throw new Error(`The recording executable ended with ${exitCode}: ${output}`);
  } finally {
    child.kill('SIGKILL');
  }
}
