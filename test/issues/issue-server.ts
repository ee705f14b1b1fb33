// A whole Hearth in a process of its own, for tests that kill it: argument 1 is its folder, as startHearth has it.
// Two listeners of entries write what they hear into the table `heard`. Prints {port, cookies} once it answers; people
// and alice/roof are made by the first start.
import path from 'node:path';
import { createApp } from '../../src/app/index.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';

const folder = process.argv[2]!;
const { config } = loadConfig({
  env: {
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_HTTP_LISTEN: '127.0.0.1:0',
    SERVICE_SSH_ENABLED: 'false',
    SERVICE_GRPC_LISTEN: '127.0.0.1:0',
  },
  cwd: folder,
  readFile: () => '',
});
const app = await createApp(config, { logger: silentLogger });
const { accounts, db, issues, repositories } = app.modules;
await db.write(({ manager }) =>
  manager.query('CREATE TABLE IF NOT EXISTS heard (listener TEXT, issue_id TEXT, position BIGINT)'),
);
for (const name of ['first', 'second'])
  issues.onEntry({
    name,
    record: async ({ manager }, { entry }) =>
      void (await manager.query('INSERT INTO heard VALUES (?, ?, ?)', [name, entry.issueId, entry.position])),
  });
const people = ['alice', 'bob', 'carol', 'dave'];
for (const username of people) await accounts.personByUsername(username).catch(() => accounts.addPerson({ username }));
await repositories
  .create(localAdministrator, { owner: 'alice', name: 'roof', visibility: 'PUBLIC' })
  .catch(() => undefined);
const cookies: string[] = [];
for (const username of people) {
  const { id } = await accounts.personByUsername(username);
  const { secret } = await accounts.startSession(id, { address: '127.0.0.1', userAgent: 'test' });
  cookies.push(`hearth_session=${secret}`);
}
const { http } = await app.start();
console.log(JSON.stringify({ port: http.port, cookies }));
