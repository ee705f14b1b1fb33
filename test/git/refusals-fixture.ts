// refusals: every way in which a whole push is refused, as one table for the tests of both transports. Each is
// prepared through the modules of a running server, and undone.
import { localAdministrator } from '../../src/access/index.ts';
import type { Modules } from '../../src/app/index.ts';

export interface Refusal {
  name: string;
  /** How git is called besides the branches. */
  options?: readonly string[];
  refspecs?: readonly string[];
  /** Makes the server refuse; returns what undoes it. */
  prepare?(modules: Modules, repository: string): Promise<() => unknown>;
  /** What stock git prints. */
  says: RegExp;
}

type Bounds = { -readonly [Name in keyof Modules['repositories']]: Modules['repositories'][Name] };

export const refusals: readonly Refusal[] = [
  {
    name: 'one ref that may not be written, and --atomic',
    options: ['--atomic'],
    refspecs: ['HEAD:refs/pull/1/head'],
    says: /refs\/pull\/1\/head \(reserved for the server\)/,
  },
  {
    name: 'refs that may not be written, all of them',
    refspecs: ['refs/heads/*:refs/changes/*'],
    says: /does not take Gerrit's refs/,
  },
  {
    name: 'an archived repository',
    async prepare({ repositories }, repository) {
      const archive = (archived: boolean) =>
        repositories.setArchived(localAdministrator, 'alice', repository, archived);
      const opened = await holdOpen(repositories, repository);
      await archive(true);
      return () => {
        opened.end();
        return archive(false);
      };
    },
    // A token gives no more than read access to an archived repository.
    says: /(?:you may no longer write here|archived and read-only)/,
  },
  {
    name: 'a check: a copy of another person’s repository',
    async prepare({ repositories }) {
      let isOn = true;
      repositories.pushes.refuse(async () => (isOn ? 'this is a copy and takes no pushes' : null));
      return () => void (isOn = false);
    },
    says: /this is a copy and takes no pushes/,
  },
  {
    name: 'a journal that cannot be written',
    async prepare({ db }) {
      await db.write(({ manager }) =>
        manager.query(
          `CREATE TRIGGER no_journal BEFORE INSERT ON pushes BEGIN SELECT RAISE(ABORT, 'the journal is broken'); END`,
        ),
      );
      return () => db.write(({ manager }) => manager.query('DROP TRIGGER no_journal'));
    },
    says: /(?:HTTP 500|internal error)/,
  },
];

/**
 * The client's first request (the ref listing) finds the repository as it was: it was opened before it was archived.
 * Stock git offers no moment in between at which a test could act.
 */
async function holdOpen(repositories: Modules['repositories'], repository: string) {
  const own = repositories as Bounds;
  const { openGitForPush } = own;
  const found = await openGitForPush(localAdministrator, 'alice', repository);
  own.openGitForPush = async () => found;
  return { end: () => void (own.openGitForPush = openGitForPush) };
}
