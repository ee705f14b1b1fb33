import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope, scopesAround, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { checkValue, maxPerScope, parseSecretName } from './name-rules.ts';
import { variableSchema } from '../schema/secret-schema.ts';

/** A value that workflows read as `vars.NAME`; not confidential. */
interface Variable {
  name: string;
  value: string;
  updatedAt: number;
}

type Deps = Pick<CiDeps, 'db' | 'random'>;

export async function listVariables({ db }: Deps, scope: CiScope): Promise<Variable[]> {
  const rows = await db.read.find(variableSchema, { where: inScope(scope), order: { name: 'ASC' } });
  return rows.map(({ name, value, updatedAt }) => ({ name, value, updatedAt }));
}

/**
 * Stores a variable, replacing one of the same name. Throws `invalid_secret_name`, `invalid_secret_value`,
 * `too_many_variables`.
 */
export async function setVariable(
  { db, random }: Deps,
  scope: CiScope,
  input: { name: string; value: string },
): Promise<void> {
  const name = parseSecretName(input.name);
  const value = checkValue(input.value);
  await db.write(async ({ manager, now }) => {
    const before = await manager.findOneBy(variableSchema, { ...inScope(scope), name });
    if (before !== null)
      return void (await manager.update(variableSchema, { id: before.id }, { value, updatedAt: now }));
    if ((await manager.countBy(variableSchema, inScope(scope))) >= maxPerScope) {
      throw conflict('too_many_variables', `There are already ${maxPerScope} variables here.`);
    }
    await manager.insert(variableSchema, {
      id: random.uuid(),
      ...toColumns(scope),
      name,
      value,
      createdAt: now,
      updatedAt: now,
    });
  });
}

/** Throws `variable_not_found`. */
export async function removeVariable({ db }: Deps, scope: CiScope, name: string): Promise<void> {
  const { affected } = await db.write(({ manager }) =>
    manager.delete(variableSchema, { ...inScope(scope), name: name.toUpperCase() }),
  );
  if (affected === 0) throw notFound('variable_not_found', 'There is no such variable.');
}

type VariablePlace = Pick<Repository, 'id' | 'ownerUserId' | 'ownerOrganisationId'>;

/** The variables for workflows of a repository; narrower scopes override wider ones. */
export async function variablesFor(manager: EntityManager, repository: VariablePlace): Promise<Map<string, string>> {
  const variables = new Map<string, string>();
  for (const scope of scopesAround(repository)) {
    for (const { name, value } of await manager.findBy(variableSchema, inScope(scope))) variables.set(name, value);
  }
  return variables;
}

const ofWrites = new WeakMap<Tx, Map<string, Map<string, string>>>();

/** Reads the variables once per write that starts or advances runs, because such a write does not change them. */
export async function variablesInWrite(tx: Tx, repository: VariablePlace): Promise<Map<string, string>> {
  const known = ofWrites.get(tx) ?? new Map<string, Map<string, string>>();
  ofWrites.set(tx, known);
  const variables = known.get(repository.id) ?? (await variablesFor(tx.manager, repository));
  known.set(repository.id, variables);
  return variables;
}
