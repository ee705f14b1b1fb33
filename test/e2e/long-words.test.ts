// time limit: 400 s
// Every kind of page of a world with two of everything, in which each text that people write is one long word: nothing
// sticks out of a narrow window.
import t from 'tap';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../fixtures/browser.ts';
import { standardWorld } from '../fixtures/standard-world.ts';
import type { World } from '../fixtures/standard-world.ts';

t.setTimeout(380_000);

const word = 'Unbreakable'.repeat(10);

/** Texts of people that no address contains, by table. */
const texts: Readonly<Record<string, readonly string[]>> = {
  access_tokens: ['name'],
  ci_jobs: ['name'],
  ci_runners: ['name'],
  ci_runs: ['title', 'workflow_name'],
  ci_steps: ['name'],
  commit_statuses: ['context', 'description', 'target_url'],
  deploy_keys: ['title'],
  issue_entries: ['body'],
  issues: ['title'],
  labels: ['name'],
  lfs_locks: ['path'],
  milestones: ['title'],
  oauth_applications: ['name'],
  passkeys: ['name'],
  person_identities: ['subject'],
  pull_commits: ['subject'],
  releases: ['title'],
  review_comments: ['body'],
  review_threads: ['path'],
  reviews: ['body'],
  sessions: ['user_agent'],
  ssh_keys: ['title'],
  webhooks: ['url'],
};

async function lengthenWords({ web }: World): Promise<void> {
  await web.modules.db.write(async ({ manager }) => {
    for (const [table, columns] of Object.entries(texts)) {
      const changes = columns.map((column) => `${column} = '${word}' || rowid`);
      await manager.query(`UPDATE ${table} SET ${changes.join(', ')}`);
      const [{ count }] = await manager.query(`SELECT count(*) AS count FROM ${table}`);
      if (Number(count) === 0) throw new Error(`the world has no ${table}`);
    }
  });
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&#39;': "'", '&quot;': '"' };
const unescape = (text: string): string => text.replace(/&(?:amp|#39|quot);/g, (entity) => entities[entity]!);

/** Pages of a kind look alike, whichever thing they show. */
const kindOf = (address: string): string =>
  address
    .replace(/\?.*/s, '')
    .replace(/[0-9a-f]{40}|[0-9a-f-]{36}|\b\d+\b/g, ':id')
    .replace(/^\/(repos|users|orgs)\/[^/]+\/(?:garden|shed)/, '/$1/:at')
    .replace(/\/(blob|tree|blame|raw|commits|src|edit)\/.*/, '/$1/:path');

/** How far a page sticks out, in pixels, and by what; null when it fits. */
const sticksOut = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return null;
    const wide = [...document.querySelectorAll('main, main *')].filter((each) => each.scrollWidth > each.clientWidth);
    const names = wide.map((each) => each.tagName + '.' + (each.getAttribute('class') ?? '').replaceAll(' ', '.'));
    return (scrollWidth - clientWidth) + ' px: ' + names.slice(-6).join(' ');
  })()`);

t.test('no page sticks out at 320 and 360 pixels', async (t) => {
  const world = await standardWorld(t);
  await world.settled();
  await lengthenWords(world);
  const { web, people } = world;
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { session } of [people.alice, people.dora]) {
    const context = await browser.newContext({ reducedMotion: 'reduce', viewport: { width: 320, height: 800 } });
    await context.addCookies([{ name: 'hearth_session', value: session, url: web.origin }]);
    const page = await context.newPage();
    const queue = ['/', '/repos/alice/garden', '/admin', '/settings/profile', '/orgs/guild', '/explore'];
    for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
      if (seen.has(kindOf(address))) continue;
      seen.add(kindOf(address));
      // A download fails to show.
      const response = await page.goto(web.origin + address).catch(() => null);
      if (!response?.headers()['content-type']?.startsWith('text/html')) continue;
      if (response.status() >= 500) faults.push(`${address}: ${response.status()}`);
      for (const width of [320, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const out = await sticksOut(page);
        if (out !== null) faults.push(`${address} at ${width}, ${out}`);
      }
      const links = (await page.content()).matchAll(/<a\b[^>]*?\shref="(\/[^"#]*)/g);
      queue.push(...[...links].map(([, link = '']) => unescape(link)).filter((link) => !/^\/(?:git|api)\//.test(link)));
    }
    await context.close();
  }
  t.same(faults, []);
  t.ok(seen.size > 150, `${seen.size} kinds of pages`);
});
