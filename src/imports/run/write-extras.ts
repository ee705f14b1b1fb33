import { accountViewer, localAdministrator } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';
import { accountsOf } from '../people/accounts-of.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { SourceExtras, SourcePerson } from '../sources/source.ts';

/** Steps that remain for a person. */
export const extrasToDo = (
  { secrets, collaborators, deployKeys, packages }: SourceExtras,
  withDeployKeys: boolean,
): string[] => [
  ...secrets.map((name) => `Set the secret ${name}: its value stays there.`),
  ...collaborators.map(({ person: { login } }) => `Give ${login} access, if it is the same person here.`),
  ...(withDeployKeys ? [] : deployKeys).map(({ title }) => `Add the deploy key ${title} again, if it is still needed.`),
  ...packages.map((name) => `Publish the package ${name} here again: its files stay there.`),
];

/**
 * Writes variables, deploy keys if they are wanted, and the access of people who are known by proof; the rest is a list
 * of manual steps. What was written once is not written again, so that changes made here stay.
 */
export async function writeExtras(context: RunContext): Promise<void> {
  const { deps, source, row, options, tell, renewAll } = context;
  const extras = await source.extras?.();
  if (extras === undefined) return;
  for (const what of ['variable ', 'deploy key ', 'access of ']) renewAll(what);
  const once = await createOnce(context, [
    ...extras.variables.map(({ name }) => `extra:variable:${name}`),
    ...extras.deployKeys.map(({ line }) => `extra:key:${line}`),
    ...extras.collaborators.map(({ person }) => `extra:access:${person.login}`),
  ]);
  const scope = { kind: 'repository', id: context.located.repository.id } as const;
  for (const { name, value } of extras.variables)
    await once(`extra:variable:${name}`, `variable ${name}`, () => deps.ci.variables.set(scope, { name, value }));
  for (const key of options.withDeployKeys ? extras.deployKeys : [])
    await once(`extra:key:${key.line}`, `deploy key ${key.title}`, async () => {
      const { owner, name } = await context.at();
      await deps.repositories.deployKeys.add(localAdministrator, owner, name, key);
    });
  const people = extras.collaborators.map(({ person }) => person);
  const accounts = await accountsOf(deps, row.host, people);
  const isOwner = ({ id }: Person): boolean => id === context.located.owner.id;
  for (const { person, role } of extras.collaborators) {
    const account = accounts.get(person.login);
    if (account !== undefined && !isOwner(account))
      await once(`extra:access:${person.login}`, `access of ${person.login}`, async () => {
        const { owner, name } = await context.at();
        await deps.repositories.collaborators.add(localAdministrator, owner, name, {
          username: account.username!,
          role,
        });
      });
  }
  const others = extras.collaborators.filter(({ person }) => !accounts.has(person.login));
  for (const line of extrasToDo({ ...extras, collaborators: others }, options.withDeployKeys)) tell('to do', line);
}

/** Stars and watches of people who are known by proof. The repository has its visibility by now. */
export async function writeFans(context: RunContext): Promise<void> {
  const { deps, source, row } = context;
  const fans = await source.fans?.();
  if (fans === undefined) return;
  const accounts = await accountsOf(deps, row.host, [...fans.stars, ...fans.watchers]);
  const lists = Object.entries<SourcePerson[]>({ ...fans });
  const once = await createOnce(
    context,
    lists.flatMap(([kind, people]) =>
      people.flatMap(({ login }) => (accounts.has(login) ? `extra:${kind}:${login}` : [])),
    ),
  );
  for (const [kind, people] of lists)
    for (const { login } of people) {
      const account = accounts.get(login);
      if (account === undefined) continue;
      const viewer = accountViewer({ ...account, isAdministrator: false });
      await once(`extra:${kind}:${login}`, `${kind} of ${login}`, async () => {
        const at = await context.at();
        if (kind === 'stars') await deps.repositories.stars.add(viewer, at.owner, at.name);
        else await deps.notifications.setWatching(viewer, at, 'everything');
      });
    }
}

const mostItemCharacters = 900;

/**
 * Does what no earlier run has done; a refusal becomes a line of the report.
 * @param items all that may be done
 */
async function createOnce(context: RunContext, items: readonly string[]) {
  const { row, tell } = context;
  const done = new Set(
    (await fingerprintsOf(context, [...new Set(items.map((item) => item.slice(0, mostItemCharacters)))])).keys(),
  );
  return async (item: string, what: string, work: () => Promise<unknown>): Promise<void> => {
    const key = item.slice(0, mostItemCharacters);
    if (done.has(key)) return;
    try {
      await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Without access to a private repository nobody stars or watches it.
      if (error.code !== 'not_found' && !error.reason.startsWith('already_')) tell(what.slice(0, 150), error.message);
      return;
    }
    await context.save({}, async ({ manager }) => {
      await manager.upsert(itemSchema, { importId: row.id, item: key, fingerprint: '' }, ['importId', 'item']);
    });
    done.add(key);
  };
}
