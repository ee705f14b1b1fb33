// The rules of an environment: the form shows what is stored, and stores what it shows.
import t from 'tap';
import { extractMain, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(240_000);

const names = ['prevent_self_review', 'needs_write', 'admins_bypass'];

/** The boxes of the form: a name of each, and whether it is ticked; anything else is a radio or lacks its words. */
const boxesOf = (page: string): Array<[name: string, isTicked: boolean]> =>
  [
    ...page.matchAll(
      /<label class="check"><input type="checkbox" name="(\w+)" value="on"( checked[^>]*)?><span>[^<]+/g,
    ),
  ].map(([, name, ticked]) => [name ?? '', ticked !== undefined]);

t.test('each rule is a box with its words, and keeps the state that was saved', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PRIVATE' });
  const to = '/repos/alice/kiln/settings/environments';
  await alice.post(to, { name: 'production' });
  await alice.post(to, { name: 'staging' });
  const read = async (environment: string) => boxesOf(extractMain(await alice.get(`${to}/${environment}`)));
  const untouched = await read('staging');
  t.same(
    untouched.map(([name]) => name),
    names,
  );
  for (const ticked of [['prevent_self_review'], ['needs_write', 'admins_bypass'], names, []]) {
    const answer = await alice.post(`${to}/rules`, {
      environment: 'production',
      ref_policy: 'all',
      ...Object.fromEntries(ticked.map((name) => [name, 'on'])),
    });
    t.equal(answer.status, 303, ticked.join());
    t.same(
      await read('production'),
      names.map((name) => [name, ticked.includes(name)]),
      ticked.join(),
    );
  }
  t.same(await read('staging'), untouched, 'another environment keeps its rules');
});
