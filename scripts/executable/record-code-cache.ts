import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface RecordedCodeCache {
  bytes: Uint8Array;
  /** Whether a start runs the chunk; others may take longer to load. */
  runsAtStart: boolean;
}

/**
 * Runs the recording executable with typical commands and collects, per chunk, V8's code cache of the functions that
 * ran. V8 rejects a cache of another build or other flags; a start is then slower, not wrong.
 * @param options.chunks the chunk names
 */
export async function recordCodeCache(options: {
  recorder: string;
  chunks: string[];
  workFolder: string;
}): Promise<Map<string, RecordedCodeCache>> {
  const { recorder, chunks, workFolder } = options;
  const folders = ['version', 'serve'].map((name) => join(workFolder, name));
  const [version, serve] = folders as [string, string];
  for (const folder of folders) await mkdir(folder);

  await promisify(execFile)(recorder, ['--version'], {
    env: { PATH: process.env['PATH'], HEARTH_RECORD_FOLDER: version },
  });
  await recordServe(recorder, serve, join(workFolder, 'data'));

  const code = new Map<string, RecordedCodeCache>();
  for (const name of chunks) {
    // A chunk that the shortest command needs contains only what that command runs.
    const candidates = [join(version, 'ran', name), join(serve, 'ran', name), join(serve, 'idle', name)];
    const best = candidates.find((file) => existsSync(file));
    if (!best) throw new Error(`Nothing was recorded for ${name}`);
    code.set(name, { bytes: await readFile(best), runsAtStart: !best.includes('/idle/') });
  }
  return code;
}

async function recordServe(recorder: string, folder: string, dataFolder: string): Promise<void> {
  const child = spawn(recorder, ['serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HEARTH_RECORD_FOLDER: folder,
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
    setTimeout(() => reject(new Error(`The recording executable does not get ready: ${output}`)), 30_000).unref();
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  await fetch(`${address}/healthz`);
  child.kill('SIGTERM');
  await once(child, 'exit');
}
