import { chmod, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, hourMs, rowsOf } from '../deps.ts';
import type { CheckGroup, CheckContext } from '../deps.ts';

/** CI files and the rows that reference them: logs, artifacts, the key of secrets. */
export const checkCi: CheckGroup = async (deps) => {
  const [rows] = await rowsOf(
    deps,
    "SELECT (SELECT count(*) FROM ci_tasks) AS logs, (SELECT count(*) FROM ci_artifacts WHERE state = 'ready') AS artifacts",
  );
  // Files in a bucket are checked by the group `objects`.
  const files = deps.objects.place === 's3' ? [] : [...(await checkArtifacts(deps)), ...(await checkLogs(deps))];
  const findings = [...(await checkKey(deps)), ...files];
  return {
    area: 'ci',
    findings,
    summary: `${counted(Number(rows!['logs']), 'log', 'logs')}, ${counted(Number(rows!['artifacts']), 'artifact', 'artifacts')}`,
  };
};

async function checkKey(deps: CheckContext): Promise<CheckResult[]> {
  const file = deps.config.instanceKeyFile;
  const found = await stat(file).catch(() => null);
  if (found === null) {
    const [{ count } = { count: 0 }] = await rowsOf(deps, 'SELECT count(*) AS count FROM ci_secrets');
    if (Number(count) === 0) return [];
    return [
      problem(
        'ci.key_missing',
        `${counted(Number(count), 'CI secret', 'CI secrets')} cannot be decrypted: ${file} is missing.`,
        {
          remedy: `restore ${file} from a backup that was created --with-keys, or set the secrets again`,
        },
      ),
    ];
  }
  // A key that is mounted may belong to the group of the server.
  const others = file.startsWith(path.join(deps.config.dataDir, path.sep)) ? 0o077 : 0o007;
  if ((found.mode & others) === 0) return [];
  return [
    problem('ci.key_mode', `Other users can read ${file}.`, {
      remedy: `chmod 600 ${file}`,
      fix: async () => chmod(file, 0o600).then(() => `chmod 600 ${file}`),
    }),
  ];
}

/** Paths such as `0/12.zip`: a thousand ids share a folder. */
async function filesBelow(folder: string): Promise<Set<string>> {
  const files = new Set<string>();
  for (const shard of await readdir(folder).catch(() => [])) {
    if (!/^\d+$/.test(shard)) continue;
    for (const name of await readdir(path.join(folder, shard))) files.add(`${shard}/${name}`);
  }
  return files;
}

async function checkArtifacts(deps: CheckContext): Promise<CheckResult[]> {
  const folder = path.join(deps.config.dataDir, 'ci', 'artifacts');
  const files = await filesBelow(folder);
  const rows = await rowsOf(deps, "SELECT id, name, file, state FROM ci_artifacts WHERE state <> 'removed'");
  const known = new Set(rows.map(({ file }) => String(file)));
  const findings: CheckResult[] = [];
  for (const { id, name, file, state } of rows) {
    if (state !== 'ready' || files.has(String(file))) continue;
    findings.push(
      warning('ci.artifact_missing', `The artifact ${String(name)} (${String(id)}) is missing: ${String(file)}.`, {
        remedy: `restore ${path.join(folder, String(file))} from a backup; hearth doctor --fix marks the artifact as no longer kept`,
        fix: async () =>
          deps.db
            .write(({ manager }) => manager.query("UPDATE ci_artifacts SET state = 'removed' WHERE id = ?", [id]))
            .then(() => `marked the artifact ${String(id)} as no longer kept`),
      }),
    );
  }
  return [
    ...findings,
    ...(await strays(
      deps,
      folder,
      [...files].filter((file) => !known.has(file)),
      'ci.artifact_orphan',
    )),
  ];
}

async function checkLogs(deps: CheckContext): Promise<CheckResult[]> {
  const folder = path.join(deps.config.dataDir, 'ci', 'logs');
  const files = await filesBelow(folder);
  const rows = await rowsOf(deps, 'SELECT id, log_rows AS count, log_removed_at AS removed FROM ci_tasks');
  const nameOf = (id: unknown): string => `${Math.floor(Number(id) / 1000)}/${String(id)}.log`;
  const known = new Set(rows.flatMap(({ id }) => [nameOf(id), nameOf(id).replace(/log$/, 'idx')]));
  const missing = rows.filter(
    ({ id, count, removed }) => Number(count) > 0 && removed === null && !files.has(nameOf(id)),
  );
  const findings = missing.map(({ id }) =>
    warning('ci.log_missing', `The log of task ${String(id)} is missing.`, {
      remedy: `restore ${path.join(folder, nameOf(id))} from a backup; hearth doctor --fix marks the log as no longer kept`,
      fix: async () =>
        deps.db
          .write(({ manager, now }) => manager.query('UPDATE ci_tasks SET log_removed_at = ? WHERE id = ?', [now, id]))
          .then(() => `marked the log of task ${String(id)} as no longer kept`),
    }),
  );
  return [
    ...findings,
    ...(await strays(
      deps,
      folder,
      [...files].filter((file) => !known.has(file)),
      'ci.log_orphan',
    )),
  ];
}

/** The nightly task removes them; old ones show that it does not run. */
async function strays(
  { now }: CheckContext,
  folder: string,
  files: readonly string[],
  check: string,
): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const file of files) {
    const at = path.join(folder, file);
    const found = await stat(at).catch(() => null);
    if (found === null || now - found.mtimeMs < 48 * hourMs) continue;
    findings.push(
      warning(check, `${at} does not belong to any run.`, {
        remedy: `rm -r ${at}`,
        fix: async () => rm(at, { recursive: true, force: true }).then(() => `removed ${at}`),
      }),
    );
  }
  return findings;
}
