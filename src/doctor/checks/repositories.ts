import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, hourMs, rowsOf } from '../deps.ts';
import type { CheckGroup, CheckContext } from '../deps.ts';
import { recordIntegrity, repositorySubject } from '../integrity/integrity-records.ts';
import { readRepository } from '../integrity/run-integrity-pass.ts';
import { noRef } from '../../kernel/index.ts';

/** Maximum delay between creating a folder and its row. */
const newRepositoryMs = 1_000;

interface Row {
  id: string;
  name: string;
  defaultBranch: string;
  folder: string;
}

/** Every repository: whether it exists, is intact, and has nothing that blocks the next push. */
export const checkRepositories: CheckGroup = async (deps) => {
  const rows = (
    await rowsOf(
      deps,
      `SELECT r.id, coalesce(r.owner_user_id, r.owner_org_id) AS owner, r.deleted_at, r.default_branch,
    coalesce(h.display || '/', '') || r.name AS name
    FROM repositories r LEFT JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL`,
    )
  ).map(
    ({ id, owner, deleted_at: deletedAt, name, default_branch: branch }): Row => ({
      id: String(id),
      name: String(name),
      defaultBranch: String(branch),
      folder:
        deletedAt === null
          ? deps.git.storage.pathOf(String(owner), String(id))
          : path.join(deps.config.dataDir, 'trash', `${String(id)}.git`),
    }),
  );
  const findings: CheckResult[] = [];
  for (const [done, row] of rows.entries()) {
    deps.onProgress({ done, total: rows.length, item: row.name });
    findings.push(...(await checkOne(deps, row)));
  }
  findings.push(...(await findOrphans(deps, new Set(rows.map(({ folder }) => folder)))));
  return { area: 'repositories', findings, summary: `${rows.length} checked` };
};

async function checkOne(deps: CheckContext, row: Row): Promise<CheckResult[]> {
  const { git } = deps;
  if (!(await git.storage.exists(row.folder))) {
    return [
      problem('repositories.missing', `${row.name} is in the database, but has no folder.`, {
        remedy: `restore ${row.folder} from a backup`,
      }),
    ];
  }
  const place = await git.storage.folderOf(row.folder).catch((error: Error) => error);
  if (place instanceof Error)
    return [
      problem('repositories.not_in_store', `${row.name} cannot be read from the object store: ${place.message}`, {
        remedy: "check the settings objects.* and the store's response",
      }),
    ];
  const findings: CheckResult[] = [];
  const leftovers = await git.maintenance.leftovers(row.folder, deps.now - hourMs, { remove: false });
  const stale = leftovers.filter(({ kind }) => kind === 'removed').map(({ file }) => file);
  if (stale.length > 0) {
    const isLock = stale.some((file) => file.endsWith('.lock'));
    findings.push(
      warning(
        isLock ? 'repositories.stale_lock' : 'repositories.unfinished_objects',
        `${row.name}: a killed process left ${stale[0]} behind${isLock ? ', which blocks pushes' : ''}.`,
        {
          remedy: 'hearth doctor --fix',
          fix: async () =>
            git.maintenance
              .leftovers(row.folder, deps.now - hourMs, { remove: true })
              .then(() => `removed ${counted(stale.length, 'leftover', 'leftovers')} of ${row.name}`),
        },
      ),
    );
  }
  const empty = leftovers.filter(({ kind }) => kind === 'empty_ref').map(({ file }) => file);
  for (const ref of empty) findings.push(await emptyRef(deps, row, ref));
  const head = (await readFile(path.join(place, 'HEAD'), 'utf8').catch(() => '')).trim();
  if (!/^(ref: refs\/heads\/.+|[0-9a-f]{40,64})$/.test(head)) {
    findings.push(
      problem('repositories.head', `${row.name}: HEAD is damaged.`, {
        remedy: 'hearth doctor --fix',
        fix: async () =>
          writeFile(path.join(row.folder, 'HEAD'), `ref: refs/heads/${row.defaultBranch}\n`).then(
            () => `reset HEAD of ${row.name} to ${row.defaultBranch}`,
          ),
      }),
    );
  } else if (head !== `ref: refs/heads/${row.defaultBranch}`) {
    findings.push(
      warning(
        'repositories.default_branch',
        `${row.name}: pages show ${row.defaultBranch}, but clones check out ${head.replace('ref: refs/heads/', '')}.`,
        {
          remedy: 'hearth doctor --fix',
          fix: async () =>
            git.refs
              .setHead(row.folder, row.defaultBranch)
              .then(() => `clones of ${row.name} now check out ${row.defaultBranch}`),
        },
      ),
    );
  }
  const hooks = (await readdir(path.join(place, 'hooks')).catch(() => [])).filter((name) => !name.endsWith('.sample'));
  if (hooks.length > 0)
    findings.push(
      warning('repositories.hooks', `${row.name} has a hook (${hooks[0]}), which Hearth never runs.`, {
        remedy: `check ${row.folder}/hooks`,
      }),
    );
  for (const file of await git.maintenance.findDamagedIndexes(row.folder)) {
    const at = path.join(row.folder, file);
    findings.push(
      problem('repositories.damaged_index', `${row.name}: ${file} does not match its checksum.`, {
        remedy: 'hearth doctor --fix removes it, and git recreates it',
        fix: async () => rm(at, { force: true }).then(() => `removed ${file} of ${row.name}`),
      }),
    );
  }
  // With an empty ref, a corrupt HEAD or a corrupt index, git reports nothing else.
  if (
    empty.length === 0 &&
    !findings.some(({ check }) => check === 'repositories.head' || check === 'repositories.damaged_index')
  ) {
    const failure = await readObjects(deps, row);
    if (failure !== null) {
      findings.push(
        problem('repositories.damaged', `${row.name} is damaged: ${failure}`, {
          remedy: `push it again from a clone, or restore ${row.folder} from a backup`,
        }),
      );
    }
    if (deps.isDeep) findings.push(...(await compareWithJournal(deps, row)));
  }
  return findings;
}

/** Reads all objects of a repository in a deep check, or if the last complete reading found corruption. */
async function readObjects(deps: CheckContext, { id, folder }: Row): Promise<string | null> {
  const { git, db, clock } = deps;
  const subject = repositorySubject(id);
  if (!deps.isDeep && !deps.damage.has(subject)) {
    const [failure] = await git.maintenance.check(folder).catch((error: Error) => [error.message]);
    return failure ?? null;
  }
  const failure = await readRepository(git, folder);
  await recordIntegrity(db, { subject, checkedAt: clock.now(), problem: failure, position: null, found: [] });
  return failure;
}

/**
 * Branches and tags whose value differs from the last acknowledged one. Refs of an unsettled push are not compared: the
 * next start settles it.
 */
async function compareWithJournal(deps: CheckContext, { id, name, folder }: Row): Promise<CheckResult[]> {
  const refs = await deps.git.refs.list(folder).catch(() => null);
  if (refs === null) return [];
  const last = await rowsOf(
    deps,
    `SELECT ref, oid FROM (SELECT u.ref, u.new_id AS oid, max(p.created_at * 1000000 + p.rowid % 1000000)
      FROM pushes p JOIN push_updates u ON u.push_id = p.id WHERE p.repository_id = ? AND u.result = 'ok'
        AND (u.ref LIKE 'refs/heads/%' OR u.ref LIKE 'refs/tags/%') GROUP BY u.ref)`,
    [id],
  );
  const running = await rowsOf(
    deps,
    `SELECT u.ref FROM pushes p CROSS JOIN push_updates u
      WHERE u.push_id = p.id AND p.announced_at IS NULL AND p.settled_at IS NULL AND p.repository_id || '' = ?`,
    [id],
  );
  const isRunning = new Set(running.map(({ ref }) => String(ref)));
  const moved = last.filter(
    ({ ref, oid }) => !noRef.test(String(oid)) && refs.get(String(ref)) !== String(oid) && !isRunning.has(String(ref)),
  );
  return moved.slice(0, 5).map(({ ref, oid }) => {
    const now = refs.get(String(ref));
    return warning(
      'repositories.moved',
      `${name}: ${String(ref)} is ${now === undefined ? 'missing' : now.slice(0, 10)}, but its last push set it to ${String(oid).slice(0, 10)}.`,
      { remedy: `unless it was changed manually: git --git-dir=${folder} update-ref ${String(ref)} ${String(oid)}` },
    );
  });
}

/**
 * The push journal has a ref's value, and so may the packed refs, possibly an older one. Only a value whose object
 * exists is restored. An empty ref whose last update was a deletion results from an unacknowledged push.
 */
async function emptyRef(deps: CheckContext, { id, name, folder }: Row, file: string): Promise<CheckResult> {
  const at = path.join(folder, file);
  const [last] = await rowsOf(
    deps,
    `SELECT u.new_id FROM push_updates u JOIN pushes p ON p.id = u.push_id
    WHERE p.repository_id = ? AND u.ref = ? AND u.result = 'ok' ORDER BY p.created_at DESC${deps.db.dialect === 'sqlite' ? ', p.rowid DESC' : ''} LIMIT 1`,
    [id, file],
  );
  const journalled = last === undefined ? null : String(last['new_id']);
  const wasDeleted = journalled !== null && noRef.test(journalled);
  const value = wasDeleted
    ? null
    : await deps.git.refs.lastValue(folder, file, journalled === null ? [] : [journalled]).catch(() => null);
  const words = `${name}: ${file} is empty, so every clone and push fails.`;
  if (wasDeleted) {
    return problem('repositories.empty_ref', words, {
      remedy: 'hearth doctor --fix removes it: it was deleted by its last push',
      fix: async () => replaceEmpty(at, null).then(() => `removed ${file} of ${name}`),
    });
  }
  if (value === null)
    return problem('repositories.empty_ref', words, { remedy: `remove ${at} and push the branch again` });
  return problem('repositories.empty_ref', words, {
    remedy: `hearth doctor --fix restores its last ${value === journalled ? '' : 'known '}value, ${value.slice(0, 10)}`,
    fix: async () => replaceEmpty(at, value).then(() => `restored ${file} of ${name} to ${value.slice(0, 10)}`),
  });
}

/** Holds git's lock of the ref, and only replaces it while it is still empty. */
async function replaceEmpty(at: string, value: string | null): Promise<void> {
  const lock = `${at}.lock`;
  await writeFile(lock, value === null ? '' : `${value}\n`, { flag: 'wx' });
  try {
    if ((await stat(at)).size > 0) throw new Error('it has a value again');
    if (value === null) await rm(at);
    else await rename(lock, at);
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * Folders without a row. The folder of a new repository is created shortly before its row, so young ones are checked
 * twice and never moved away.
 */
async function findOrphans(deps: CheckContext, known: ReadonlySet<string>): Promise<CheckResult[]> {
  const { config, now } = deps;
  const findings: CheckResult[] = [];
  const young: string[] = [];
  const root = config.storage.root;
  for (const owner of await readdir(root).catch(() => [])) {
    for (const name of await readdir(path.join(root, owner)).catch(() => [])) {
      const at = path.join(root, owner, name);
      const found = await stat(at).catch(() => null);
      if (known.has(at) || found === null) continue;
      if (now - found.mtimeMs < hourMs) {
        young.push(at);
        continue;
      }
      const lostAndFound = path.join(config.dataDir, 'lost-and-found');
      findings.push(
        warning('repositories.orphan', `${at} does not belong to any repository.`, {
          remedy: 'hearth doctor --fix moves it to lost-and-found',
          fix: async () => {
            await mkdir(lostAndFound, { recursive: true, mode: 0o700 });
            await rename(at, path.join(lostAndFound, `${owner}-${name}`));
            return `moved ${name} to ${lostAndFound}`;
          },
        }),
      );
    }
  }
  if (young.length > 0) await sleep(newRepositoryMs);
  for (const at of young.slice(0, 20)) {
    const [row] = await rowsOf(deps, 'SELECT id FROM repositories WHERE id = ?', [path.basename(at, '.git')]);
    if (row !== undefined || (await stat(at).catch(() => null)) === null) continue;
    findings.push(
      warning(
        'repositories.orphan',
        `${at} does not belong to any repository, but was changed less than an hour ago.`,
        {
          remedy: 'unless a repository is being created or imported, check again in an hour: hearth doctor --fix',
        },
      ),
    );
  }
  return findings;
}
