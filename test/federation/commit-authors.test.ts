// Whom a published commit is attributed to.
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createFederation } from '../../src/federation/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import type { PushListener } from '../../src/repositories/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { addRepository, openFederation } from './federation-fixture.ts';

t.test(
  'a commit is attributed to the actor of its author only by a verified address of an active person',
  async (t) => {
    const stage = await openFederation(t);
    const { modules, origin, folder, clock } = stage;
    const { accounts, repositories } = modules;
    const { config } = loadConfig({
      env: {
        SERVICE_DATA_DIR: folder,
        SERVICE_FEDERATION_ENABLED: 'true',
        SERVICE_FEDERATION_BASE_URL: origin,
        SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
      },
      cwd: folder,
      readFile: () => '',
    });
    const federation = createFederation({
      ...modules,
      config,
      clock,
      random: systemRandom,
      logger: silentLogger,
    } as never);
    t.teardown(() => federation.stop());

    await addRepository(stage);
    const { path: bare, repository } = await repositories.find(anonymous, 'alice', 'tool');
    const alice = await accounts.personByUsername('alice');
    const bob = await accounts.addPerson({ username: 'bob' });
    const carol = await accounts.addPerson({ username: 'carol' });
    const { addresses } = accounts;
    await addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
    await addresses.add(bob.id, { address: 'bob@example.org' });
    await addresses.add(carol.id, { address: 'carol@example.org', isVerified: true });
    await accounts.setDisabled(carol.id, true);
    const authors: [name: string, email: string][] = [
      ['Alice <one>', 'ALICE@example.org'],
      ['Alice', addresses.noReplyOf(alice)],
      ['Bob', 'bob@example.org'],
      ['Carol', 'carol@example.org'],
      ['dave@example.org', 'dave@example.org'],
    ];
    const cwd = temporaryFolder(t);
    await runGit(['init', '--quiet', '-b', 'main'], { cwd });
    for (const [name, email] of authors) {
      const env = { GIT_AUTHOR_NAME: name.replace(/ <.*/, ''), GIT_AUTHOR_EMAIL: email };
      await runGit(['commit', '--quiet', '--allow-empty', '-m', 'Change'], { cwd, env });
    }
    await runGit(['push', '--quiet', bare, 'main'], { cwd });
    const newId = (await runGit(['rev-parse', 'main'], { cwd })).trim();
    const listener: PushListener | null = federation.onPush;
    const prepared = (await listener!.prepare!({
      id: 'p1',
      repository,
      pusherId: alice.id,
      via: 'http',
      credential: null,
      options: [],
      updates: [{ ref: 'refs/heads/main', oldId: '0'.repeat(40), newId }],
      arrivedAt: clock.now(),
    } as never)) as { contents: { object: { orderedItems: { attributedTo: unknown }[] } }[] };
    const actor = `${origin}/ap/users/alice`;
    t.same(prepared.contents[0]!.object.orderedItems.map(({ attributedTo }) => attributedTo).reverse(), [
      actor,
      actor,
      { type: 'Person', name: 'Bob' },
      { type: 'Person', name: 'Carol' },
      { type: 'Person', name: 'Somebody' },
    ]);
    const text = JSON.stringify(prepared);
    t.notMatch(text, /mailto:|@example\.org/i, 'no address is published');
  },
);
