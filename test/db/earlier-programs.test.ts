// Data folders as earlier programs left them, with their run/: each starts under this program and goes back.
// time limit: 300 s
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { createApp } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const versionsIn = (database: string): number[] => {
  const opened = new DatabaseSync(database);
  try {
    return opened
      .prepare('SELECT name FROM migrations')
      .all()
      .map(({ name }) => Number(/^V(\d+)/.exec(String(name))![1]))
      .sort((a, b) => a - b);
  } finally {
    opened.close();
  }
};

/** Tables, columns and indexes; statistics are no part of it. */
const schemaOf = (database: string): unknown[] => {
  const opened = new DatabaseSync(database);
  try {
    return opened.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all();
  } finally {
    opened.close();
  }
};

/** The version, or the commit that the program was built from; `alice/garden` has a pushed branch. */
const programs = ['a98bcb13', '0.1.0', 'b228179', '716a03d8'];

const fresh = temporaryFolder(t);
t.before(async () => {
  const { code, stderr } = await runCli(['migrate', '-q'], { cwd: fresh, env: { SERVICE_DATA_DIR: fresh } });
  t.equal(code, 0, stderr);
});

for (const program of programs) {
  for (const killed of [false, true]) {
    t.test(`${program}${killed ? ', killed in the middle of the migrations' : ''}`, async (t) => {
      const folder = temporaryFolder(t);
      const dataDir = path.join(folder, 'data');
      mkdirSync(dataDir, { mode: 0o700 });
      execFileSync('tar', ['-xzf', file(`data-folders/${program}.tar.gz`), '-C', dataDir]);
      const database = path.join(dataDir, 'hearth.db');
      const before = versionsIn(database);
      t.ok(existsSync(path.join(dataDir, 'run', 'git')), 'with its run folder');
      const env = { SERVICE_DATA_DIR: dataDir, SERVICE_HTTP_LISTEN: '127.0.0.1:0', SERVICE_SSH_ENABLED: 'false' };
      const cli = (line: string) => runCli(line.split(' '), { cwd: folder, env });

      const dryRun = await cli('migrate --rehearse');
      t.equal(dryRun.code, 0, dryRun.stderr);
      t.strictSame(versionsIn(database), before, 'a dry run changes nothing');
      const pending = migrations.filter(({ version }) => !before.includes(version));
      if (killed && pending.length > 1) {
        const last = String(pending.at(-1)!.version);
        const { signal } = spawnSync(process.execPath, [file('killed-migration.ts'), database, last, '0']);
        t.equal(signal, 'SIGKILL');
        t.equal(versionsIn(database).length, before.length + pending.length - 1);
      }

      const { config } = loadConfig({
        argvOverrides: { 'grpc.listen': '127.0.0.1:0' },
        env,
        cwd: folder,
        readFile: () => '',
      });
      const app = await createApp(config, { logger: silentLogger });
      const { http } = await app.start();
      const page = await fetch(`http://127.0.0.1:${http.port}/git/alice/garden.git/info/refs?service=git-upload-pack`);
      t.match(await page.text(), 'refs/heads/main');
      await app.stop({ graceMs: 0 });
      t.strictSame(schemaOf(database), schemaOf(path.join(fresh, 'hearth.db')), 'no migration was edited since');

      const back = await cli('rollback --yes');
      if (pending.length > 0) {
        t.equal(back.code, 0, back.stderr);
        t.strictSame(versionsIn(database), before, 'the schema of the earlier program');
      }
      t.notOk(existsSync(path.join(dataDir, 'run', 'git', 'version')), 'nothing that it would misread');
    });
  }
}
