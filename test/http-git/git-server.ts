// startGitServer(t, {config?}) → a whole server on a free port with alice (owner) and bob, tokens, and repositories.
// The server runs in this process: what a test starts, git included, is its child.
import path from 'node:path';
import { loadConfig } from '../../src/config/index.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { createApp } from '../../src/app/index.ts';
import type { App } from '../../src/app/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { recordingLogger } from '../git/git-fixture.ts';
import type { LogLine } from '../git/git-fixture.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';

export interface GitServer {
  app: App;
  folder: string;
  log: LogLine[];
  port: number;
  /** Null while SSH is off. */
  sshPort: number | null;
  /** `http://127.0.0.1:port` */
  origin: string;
  /** Tokens by what they are for. */
  tokens: Record<'alice' | 'aliceReads' | 'bob', string>;
  /** Makes a repository of alice; returns its clone address, with a token in it when one is given. */
  newRepository(name: string, visibility?: 'PUBLIC' | 'PRIVATE'): Promise<string>;
  url(name: string, token?: string): string;
  /** Where the repository of alice is on disk. */
  pathOf(name: string): Promise<string>;
}

export async function startGitServer(t: Owner, env: Record<string, string> = {}): Promise<GitServer> {
  const folder = temporaryFolder(t);
  const { logger, log } = recordingLogger();
  const { config } = loadConfig({
    argvOverrides: {},
    env: {
      SERVICE_DATA_DIR: path.join(folder, 'data'),
      SERVICE_HTTP_LISTEN: '127.0.0.1:0',
      SERVICE_GRPC_LISTEN: '127.0.0.1:0',
      SERVICE_SSH_ENABLED: 'false',
      ...(await databaseSettings(t, path.join(folder, 'data'))),
      ...env,
    },
    cwd: folder,
    readFile: () => '',
  });
  const app = await createApp(config, { logger });
  t.teardown(() => app.stop({ graceMs: 0 }));
  const { http, ssh } = await app.start();
  const { accounts, repositories } = app.modules;
  const [alice, bob] = await Promise.all([
    accounts.addPerson({ username: 'alice' }),
    accounts.addPerson({ username: 'bob' }),
  ]);
  const token = async (id: string, name: string, access: 'read' | 'write') =>
    (await accounts.addToken(id, { name, access, repositoryIds: null, expiresAt: null })).secret;
  const tokens = {
    alice: await token(alice.id, 'writes', 'write'),
    aliceReads: await token(alice.id, 'reads', 'read'),
    bob: await token(bob.id, 'writes', 'write'),
  };
  const origin = `http://127.0.0.1:${http.port}`;
  const url = (name: string, secret?: string) =>
    `http://${secret === undefined ? '' : `alice:${secret}@`}127.0.0.1:${http.port}/git/alice/${name}.git`;
  return {
    app,
    folder,
    log,
    port: http.port,
    sshPort: ssh?.port ?? null,
    origin,
    tokens,
    url,
    async newRepository(name, visibility = 'PUBLIC') {
      await repositories.create(localAdministrator, { owner: 'alice', name, visibility });
      return url(name, tokens.alice);
    },
    pathOf: async (name) =>
      app.modules.git.storage.folderOf((await repositories.find(localAdministrator, 'alice', name)).path),
  };
}
