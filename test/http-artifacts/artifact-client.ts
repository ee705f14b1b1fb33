// The clients of the stock actions, in a process of their own: they print what they do, and read who they are from
// the environment.
// Takes {env, version: 'v4'|'v3', act: 'upload'|'download'|'list'|'delete', name, folder?, files?, hash?}, prints
// what the client gave or {error}.
import { createRequire } from 'node:module';
import path from 'node:path';

interface Client {
  uploadArtifact(name: string, files: string[], root: string, options?: object): Promise<object>;
  downloadArtifact(which: unknown, where: unknown, options?: object): Promise<object>;
  listArtifacts(options?: object): Promise<{ artifacts: { name: string; id: number }[] }>;
  deleteArtifact(name: string): Promise<object>;
}

export interface Step {
  env: Record<string, string>;
  version: 'v4' | 'v3';
  act: 'upload' | 'download' | 'list' | 'delete';
  name: string;
  folder?: string;
  files?: string[];
  hash?: string;
}

const require = createRequire(import.meta.url);
const clients = {
  v4: () => require('@actions/artifact').default as Client,
  v3: () => require('artifact-v3').create() as Client,
};

async function run({ env, version, act, name, folder = '', files = [], hash }: Step): Promise<object> {
  Object.assign(process.env, env);
  const client = clients[version]();
  if (act === 'list') return client.listArtifacts({ latest: true });
  if (act === 'delete') return client.deleteArtifact(name);
  if (act === 'upload')
    return client.uploadArtifact(
      name,
      files.map((file) => path.join(folder, file)),
      folder,
      { retentionDays: 5, continueOnError: false },
    );
  if (version === 'v3') return client.downloadArtifact(name, folder, { createArtifactFolder: false });
  const found = (await client.listArtifacts()).artifacts.find((one) => one.name === name);
  return found === undefined
    ? { missing: name }
    : client.downloadArtifact(found.id, { path: folder, ...(hash === undefined ? {} : { expectedHash: hash }) });
}

process.on('message', (step: Step) => {
  void run(step)
    .then(
      (result) => result,
      (error: Error) => ({ error: error.message }),
    )
    .then((result) => process.send!(result));
});
