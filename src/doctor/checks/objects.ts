import { describeStore, describeStoreFailure } from '../../objects/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';
import { checkObjects } from '../objects/check-objects.ts';
import type { CheckedKind } from '../objects/check-objects.ts';
import { objectKinds } from '../objects/object-kinds.ts';

/** The bucket, and whether it has what rows name. Files of folders are checked with what they belong to. */
export const checkStore: CheckGroup = async (deps) => {
  const { objects, config } = deps;
  if (objects.place === 'folder') return { area: 'objects', findings: [], summary: 'in the data folder' };
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
        problem(
          'objects.unavailable',
          `The store of objects at ${at} cannot be used: ${describeStoreFailure(error)}.`,
          {
            remedy: 'see docs/object-store.md; pushes and issues go on without it',
          },
        ),
      ],
      summary: '',
    };
  }
};

const checkKind = (deps: CheckContext, kind: (typeof objectKinds)[number]): Promise<CheckedKind> =>
  checkObjects(kind, {
    store: deps.objects,
    folder: deps.objectFolder ?? null,
    ask: (sql, parameters) => rowsOf(deps, sql, parameters),
    read: false,
    now: deps.now,
  });

function findings(deps: CheckContext, { kind, faults }: CheckedKind): CheckResult[] {
  const of = (fault: string): string[] => faults.filter((one) => one.fault === fault).map(({ key }) => key);
  const [missing, elsewhere, changed, foreign] = ['missing', 'elsewhere', 'changed', 'foreign'].map(of) as [
    string[],
    string[],
    string[],
    string[],
  ];
  const remedy = 'hearth objects check names them; put them back from a copy of the bucket';
  const said = (keys: readonly string[], what: string): string =>
    `${kind}: ${counted(keys.length, 'object', 'objects')} ${what}, such as ${keys[0]}.`;
  return [
    ...(missing.length === 0 ? [] : [problem('objects.missing', said(missing, 'missing in the bucket'), { remedy })]),
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
            remedy: 'the nightly tasks remove most; hearth doctor --fix removes them now',
            fix: async () => {
              for (const key of foreign) await deps.objects.remove(key);
              return `removed ${counted(foreign.length, 'object', 'objects')}`;
            },
          }),
        ]),
  ];
}
