import { describeStore, describeStoreFailure } from '../../objects/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult, GroupReport } from '../check-result.ts';
import { counted, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';
import { checkObjects } from '../objects/check-objects.ts';
import type { CheckedKind } from '../objects/check-objects.ts';
import { describeDamagedObjects } from '../integrity/run-integrity-pass.ts';
import { objectsSubject, recordIntegrity } from '../integrity/integrity-records.ts';
import { fileKinds, objectKinds } from '../objects/object-kinds.ts';

/**
 * The bucket, and whether it has the objects that rows reference. Other groups check files in folders; this one only
 * compares them with their rows.
 */
export const checkStore: CheckGroup = async (deps) => {
  const { objects, config } = deps;
  if (objects.place === 'folder') return checkFolder(deps);
  const at = describeStore(config.objects);
  try {
    const kinds: CheckedKind[] = [];
    for (const kind of objectKinds) kinds.push(await checkKind(deps, kind));
    const count = kinds.reduce((sum, { objects: more }) => sum + more, 0);
    return {
      area: 'objects',
      findings: kinds.flatMap((kind) => findings(deps, kind)),
      summary: `${counted(count, 'object', 'objects')} in ${at}`,
    };
  } catch (error) {
    return {
      area: 'objects',
      findings: [
        problem('objects.unavailable', `The object store at ${at} cannot be used: ${describeStoreFailure(error)}.`, {
          remedy: 'see docs/object-store.md; pushes and issues continue to work without it',
        }),
      ],
      summary: '',
    };
  }
};

async function checkFolder(deps: CheckContext): Promise<GroupReport> {
  const checked: CheckedKind[] = [];
  // The group `issues` checks attachments.
  for (const kind of fileKinds.filter(({ name }) => name !== 'attachments')) checked.push(await checkKind(deps, kind));
  const changed = checked.map((kind) => ({ ...kind, faults: kind.faults.filter(({ fault }) => fault === 'changed') }));
  const count = checked.reduce((sum, { objects }) => sum + objects, 0);
  return {
    area: 'objects',
    findings: changed.flatMap((kind) => findings(deps, kind)),
    summary: `${counted(count, 'object', 'objects')} in the data folder`,
  };
}

async function checkKind(deps: CheckContext, kind: (typeof objectKinds)[number]): Promise<CheckedKind> {
  let done = 0;
  const checked = await checkObjects(kind, {
    store: deps.objects,
    folder: deps.objectFolder ?? null,
    ask: (sql, parameters) => rowsOf(deps, sql, parameters),
    read: deps.isDeep,
    now: deps.now,
    onObject: (item) => deps.onProgress({ done: (done += 1), total: 0, item }),
  });
  if (deps.isDeep) await recordKind(deps, checked);
  return checked;
}

async function recordKind({ db, clock }: CheckContext, { kind, faults }: CheckedKind): Promise<void> {
  const keys = faults.filter(({ fault }) => fault === 'missing' || fault === 'changed').map(({ key }) => key);
  const problem = keys.length === 0 ? null : describeDamagedObjects(kind, keys);
  await recordIntegrity(db, {
    subject: objectsSubject(kind),
    checkedAt: clock.now(),
    problem,
    position: null,
    found: [],
  });
}

/** Results of the last reading; a deep check has just read them all. */
function knownFindings({ damage, isDeep }: CheckContext, kind: string): CheckResult[] {
  const known = isDeep ? undefined : damage.get(objectsSubject(kind));
  if (known === undefined) return [];
  const day = new Date(known.checkedAt).toISOString().slice(0, 10);
  return [
    problem('objects.damaged', `Problems found when reading all objects on ${day}: ${known.problem}.`, {
      remedy: 'restore them from a backup; hearth doctor --deep --only objects checks them again',
    }),
  ];
}

function findings(deps: CheckContext, { kind, faults }: CheckedKind): CheckResult[] {
  const of = (fault: string): string[] => faults.filter((one) => one.fault === fault).map(({ key }) => key);
  const [missing, elsewhere, changed, foreign] = ['missing', 'elsewhere', 'changed', 'foreign'].map(of) as [
    string[],
    string[],
    string[],
    string[],
  ];
  const remedy = 'hearth objects check names them; put them back from a backup or a copy of the bucket';
  const said = (keys: readonly string[], what: string): string =>
    `${kind}: ${counted(keys.length, 'object', 'objects')} ${what}, such as ${keys[0]}.`;
  return [
    ...knownFindings(deps, kind),
    ...(missing.length === 0 ? [] : [problem('objects.missing', said(missing, 'missing'), { remedy })]),
    ...(changed.length === 0 ? [] : [problem('objects.changed', said(changed, 'with other bytes'), { remedy })]),
    ...(elsewhere.length === 0
      ? []
      : [
          problem('objects.elsewhere', said(elsewhere, 'in the data folder and not in the bucket'), {
            remedy: 'hearth objects copy --to s3',
          }),
        ]),
    ...(foreign.length === 0
      ? []
      : [
          warning('objects.foreign', said(foreign, 'that belong to nothing'), {
            remedy: 'the nightly tasks remove most of them; hearth doctor --fix removes them now',
            fix: async () => {
              for (const key of foreign) await deps.objects.remove(key);
              return `removed ${counted(foreign.length, 'object', 'objects')}`;
            },
          }),
        ]),
  ];
}
