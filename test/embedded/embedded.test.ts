import t from 'tap';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { embedded, type WorkerName } from '../../src/embedded/index.ts';
import { workers } from '../../src/embedded/workers.ts';

const project = join(import.meta.dirname, '../..');

t.test('the version is the one in package.json', async (t) => {
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
  t.equal(embedded.version, version);
  t.equal(embedded.isExecutable, false);
});

t.test('every listed asset can be read, and nothing else', async (t) => {
  for (const path of embedded.assetPaths()) t.ok(embedded.asset(path).length > 0, path);
  for (const path of ['', '..', '../layout.pug', '/etc/passwd', 'site.css\0', './', 'no-such-file.css']) {
    t.throws(() => embedded.asset(path), { message: /^There is no asset named / }, JSON.stringify(path));
  }
});

t.test('a template name that is not below templates/ is refused', async (t) => {
  for (const name of ['', 'no-such-page', '../README', '/etc/passwd', 'assets/site.css', 'pages/../layout']) {
    t.throws(() => embedded.renderTemplate(name), { message: /^There is no template named / }, JSON.stringify(name));
  }
});

t.test('every worker has its source file, and an unknown worker is refused', async (t) => {
  for (const file of Object.values(workers)) t.ok(existsSync(join(project, file)), file);
  for (const name of ['nobody', 'toString', '../cli/index']) {
    t.throws(() => embedded.startWorker(name as WorkerName), { message: /^There is no worker named / }, name);
  }
});
