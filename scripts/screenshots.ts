/** Draws docs/images from the pages of `hearth demo`: scripts/screenshots has the usage. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { launchBrowser } from '../test/fixtures/browser.ts';

const project = join(import.meta.dirname, '..');
/** File → path of the page. */
const pages = {
  repository: '/alice/garden',
  'pull-request': '/alice/garden/pulls/6',
};

const demo = spawn(join(project, 'bin/hearth'), ['demo', '--json', '--listen', '127.0.0.1:3000'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  let output = '';
  for await (const text of demo.stdout.setEncoding('utf8')) {
    output += text as string;
    if (output.trimEnd().endsWith('}')) break;
  }
  const { url, password } = JSON.parse(output) as { url: string; password: string };
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(`${url}/login`);
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', password);
    await page.press('[name=password]', 'Enter');
    await page.waitForURL((address) => !address.pathname.startsWith('/login'));
    for (const [name, path] of Object.entries(pages)) {
      // The last commits of a folder are looked up meanwhile; the page says so until they are there.
      do {
        const answer = await page.goto(`${url}${path}`, { waitUntil: 'networkidle' });
        if (answer?.status() !== 200) throw new Error(`${path} was answered ${answer?.status()}`);
      } while ((await page.getByText('are being looked up').count()) > 0);
      await page.screenshot({ path: join(project, 'docs/images', `${name}.png`) });
    }
  } finally {
    await browser.close();
  }
} finally {
  demo.kill('SIGTERM');
  if (demo.exitCode === null) await once(demo, 'exit');
}
