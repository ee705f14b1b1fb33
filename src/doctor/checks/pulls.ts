import { readHiddenRefs } from '../../git/index.ts';
import { recomputeCommits, pullLimits } from '../../pulls/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Derived columns of pull requests, lists of commits, and the refs that keep their objects. */
export const checkPulls: CheckGroup = async (deps) => {
  const repositories = await readRounds(deps);
  const findings = [...(await checkColumns(deps)), ...(await checkCommits(deps, repositories))];
  for (const repository of repositories.values()) findings.push(...(await checkRefs(deps, repository)));
  const rounds = [...repositories.values()].reduce((sum, each) => sum + each.rounds.length, 0);
  return { area: 'pulls', findings, summary: `${counted(rounds, 'round', 'rounds')} checked` };
};

interface Round {
  issueId: string;
  number: number;
  round: number;
  headOid: string;
  baseOid: string;
  isLast: boolean;
}

interface RepositoryRounds {
  name: string;
  path: string;
  rounds: Round[];
}

async function readRounds(deps: CheckContext): Promise<Map<string, RepositoryRounds>> {
  const rows = await rowsOf(
    deps,
    `SELECT p.repository_id, coalesce(r.owner_user_id, r.owner_org_id) AS owner, coalesce(h.display || '/', '') || r.name AS name,
       i.number, d.issue_id, d.round, d.head_oid, d.base_oid
     FROM pull_rounds d JOIN pulls p ON p.issue_id = d.issue_id JOIN issues i ON i.id = p.issue_id
       JOIN repositories r ON r.id = p.repository_id
       LEFT JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
     WHERE r.deleted_at IS NULL ORDER BY d.issue_id, d.round`,
  );
  const repositories = new Map<string, RepositoryRounds>();
  for (const [at, row] of rows.entries()) {
    const id = String(row['repository_id']);
    const known = repositories.get(id) ?? {
      name: String(row['name']),
      path: deps.git.storage.pathOf(String(row['owner']), id),
      rounds: [],
    };
    known.rounds.push({
      issueId: String(row['issue_id']),
      number: Number(row['number']),
      round: Number(row['round']),
      headOid: String(row['head_oid']),
      baseOid: String(row['base_oid']),
      isLast: rows[at + 1]?.['issue_id'] !== row['issue_id'],
    });
    repositories.set(id, known);
  }
  return repositories;
}

const isOpen = `(SELECT CASE WHEN i.state = 'OPEN' AND i.deleted_at IS NULL THEN 1 ELSE 0 END FROM issues i WHERE i.id = pulls.issue_id)`;
const ofLast = (column: string): string =>
  `(SELECT d.${column} FROM pull_rounds d WHERE d.issue_id = pulls.issue_id ORDER BY d.round DESC LIMIT 1)`;
const derived = {
  is_open: isOpen,
  last_round: ofLast('round'),
  head_oid: ofLast('head_oid'),
  base_oid: ofLast('base_oid'),
};
const differing = Object.entries(derived)
  .map(([column, actual]) => `${column} <> ${actual}`)
  .join(' OR ');

async function checkColumns(deps: CheckContext): Promise<CheckResult[]> {
  const ids = (await rowsOf(deps, `SELECT issue_id FROM pulls WHERE ${differing}`)).map((row) =>
    String(row['issue_id']),
  );
  if (ids.length === 0) return [];
  const what = counted(ids.length, 'pull request', 'pull requests');
  return [
    warning('pulls.columns', `State, head or last round of ${what} do not match their issues and rounds.`, {
      remedy: 'hearth doctor --fix takes them from there',
      fix: async () => {
        const set = Object.entries(derived).map(([column, actual]) => `${column} = ${actual}`);
        for (const id of ids)
          await deps.db.write(({ manager }) =>
            manager.query(
              `UPDATE pulls SET ${set.join(', ')}, merge_state = 'UNKNOWN', merge_state_onto = NULL WHERE issue_id = ?`,
              [id],
            ),
          );
        return `corrected ${what}`;
      },
    }),
  ];
}

async function checkCommits(
  deps: CheckContext,
  repositories: ReadonlyMap<string, RepositoryRounds>,
): Promise<CheckResult[]> {
  const rows = await rowsOf(
    deps,
    `SELECT d.issue_id, d.round FROM pull_rounds d
     WHERE (SELECT count(*) FROM pull_commits c WHERE c.issue_id = d.issue_id AND c.round = d.round)
       <> CASE WHEN d.commit_count > ? THEN ? ELSE d.commit_count END`,
    [pullLimits.listedCommits, pullLimits.listedCommits],
  );
  const wrong = new Set(rows.map((row) => `${String(row['issue_id'])} ${Number(row['round'])}`));
  const rounds = [...repositories.values()].flatMap((repository) =>
    repository.rounds
      .filter(({ issueId, round }) => wrong.has(`${issueId} ${round}`))
      .map((round) => ({ path: repository.path, round })),
  );
  if (rounds.length === 0) return [];
  const what = counted(rounds.length, 'round', 'rounds');
  return [
    warning('pulls.commits', `The commit lists of ${what} of pull requests are incomplete.`, {
      remedy: 'hearth doctor --fix reads them from git',
      fix: async () => {
        for (const { path, round } of rounds) await recomputeCommits(deps, path, round);
        return `rebuilt the commit lists of ${what}`;
      },
    }),
  ];
}

/** The refs that keep the objects of rounds, and the heads that clients fetch. */
async function checkRefs(deps: CheckContext, { name, path, rounds }: RepositoryRounds): Promise<CheckResult[]> {
  const { git } = deps;
  // A repository without a folder has its own result.
  if (!(await git.storage.exists(path))) return [];
  const [refs, kept] = [await git.refs.list(path), await readHiddenRefs(await git.storage.folderOf(path))];
  const oids = new Set(rounds.flatMap(({ headOid, baseOid }) => [headOid, baseOid]));
  const unkept = [...oids].filter((oid) => !kept.has(`refs/hearth/rounds/${oid}`));
  const heads = rounds.filter(
    ({ isLast, number, headOid }) => isLast && refs.get(`refs/pull/${number}/head`) !== headOid,
  );
  const gone = new Set<string>();
  for (const oid of new Set([...unkept, ...heads.map(({ headOid }) => headOid)]))
    if ((await git.objects.commit(path, oid).catch(() => null)) === null) gone.add(oid);
  const findings: CheckResult[] = [];
  if (gone.size > 0)
    findings.push(
      problem(
        'pulls.objects',
        `${name}: ${counted(gone.size, 'commit', 'commits')} in rounds are missing, such as ${[...gone][0]}.`,
        { remedy: `restore ${path} from a backup` },
      ),
    );
  const keepable = unkept.filter((oid) => !gone.has(oid));
  const movable = heads.filter(({ headOid }) => !gone.has(headOid));
  if (keepable.length + movable.length > 0) {
    const what = counted(keepable.length + movable.length, 'ref', 'refs');
    findings.push(
      warning(
        'pulls.refs',
        `${name}: ${what} of pull requests are missing or wrong, so maintenance may remove commits.`,
        {
          remedy: 'hearth doctor --fix sets them',
          fix: async () => {
            await git.objects.keep(
              path,
              keepable.map((oid) => ({ name: `rounds/${oid}`, oid })),
            );
            for (const { number, headOid } of movable) await git.refs.setPull(path, number, 'head', headOid);
            return `set ${what} of ${name}`;
          },
        },
      ),
    );
  }
  return findings;
}
