// openS3(t, s3, settings?, lowDiskFloorBytes?) → a store of objects in a stand-in or a real S3-compatible store, with
// what it logs.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger, systemClock, systemRandom } from '../../src/kernel/index.ts';
import type { LogFields } from '../../src/kernel/index.ts';
import { openStore } from '../../src/objects/index.ts';
import type { ObjectStore, OpenedStore } from '../../src/objects/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

interface OpenedS3 extends OpenedStore {
  directory: string;
  log: string[];
}

export async function openS3(
  t: Owner,
  s3: { env: Record<string, string> },
  settings: Record<string, string> = {},
  lowDiskFloorBytes = 0,
): Promise<OpenedS3> {
  const directory = temporaryFolder(t);
  const log: string[] = [];
  const write = (event: string, fields?: LogFields): void => void log.push(`${event} ${JSON.stringify(fields ?? {})}`);
  const env = {
    SERVICE_DATA_DIR: directory,
    ...s3.env,
    ...settings,
  };
  const { config } = loadConfig({ env, cwd: '/', readFile: (file) => readFileSync(file, 'utf8') });
  const opened = await openStore({
    config,
    directory: path.join(directory, 'objects'),
    lowDiskFloorBytes: () => lowDiskFloorBytes,
    clock: systemClock,
    random: systemRandom,
    logger: { ...silentLogger, info: write, warn: write, error: write },
  });
  t.teardown(() => opened.close());
  return { ...opened, directory: path.join(directory, 'objects'), log };
}

export const listKeys = async (store: ObjectStore, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys.sort();
};
