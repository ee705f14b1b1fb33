import { z } from 'zod';
import type { Runner } from '../../../ci/index.ts';
import { giteaTime } from '../../../gitea-shapes/index.ts';
import { conflict, invalid, notFound } from '../../../kernel/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { ciScopePaths, inPath } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';

/** Secrets, variables and runners at Gitea's URLs; `secrets.ts` and `runners.ts` have those of this server. */
const secret = z
  .strictObject({ name: z.string(), description: z.string(), created_at: z.iso.datetime() })
  .meta({ id: 'ActionSecret' });
const variable = z
  .strictObject({
    owner_id: z.int(),
    repo_id: z.int(),
    name: z.string(),
    data: z.string(),
    description: z.string(),
  })
  .meta({ id: 'ActionVariable' });
const runner = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    status: z.enum(['online', 'offline']),
    busy: z.boolean(),
    disabled: z.boolean(),
    ephemeral: z.boolean(),
    labels: z.array(z.strictObject({ id: z.int(), name: z.string(), type: z.literal('custom') })),
  })
  .meta({ id: 'ActionRunner' });

const showRunner = ({ id, name, status, isDisabled, ephemeral, labels }: Runner): z.output<typeof runner> => ({
  id,
  name,
  status: status === 'offline' ? 'offline' : 'online',
  busy: status === 'active',
  disabled: isDisabled,
  ephemeral,
  labels: labels.map((label) => ({ id: 0, name: label, type: 'custom' as const })),
});

/** Throws `runner_not_found`, also for an invalid number. */
function runnerIn(params: Readonly<Record<string, string>>): number {
  const text = inPath(params, 'runner');
  if (!/^\d{1,15}$/.test(text)) throw notFound('runner_not_found', 'There is no such runner.');
  return Number(text);
}

function runnersOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Runners', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall);
  const folder = `${at}/actions/runners` as const;
  return [
    operation({
      ...common,
      id: `list${word}ActionRunners`,
      method: 'GET',
      path: folder,
      status: 200,
      refuses,
      summary: `List the runners ${whose} in Gitea’s format`,
      query: z.object({ page: z.int().min(1).default(1), limit: z.int().min(1).max(100).default(30) }),
      response: z
        .strictObject({ runners: z.array(runner), total_count: z.int() })
        .meta({ id: 'ActionRunnersResponse' }),
      async run(call) {
        const { page, limit } = call.query;
        const all = await call.deps.ci.runners.list(scope(call));
        return json({
          runners: all.slice((page - 1) * limit, page * limit).map(showRunner),
          total_count: all.length,
        });
      },
    }),
    operation({
      ...common,
      id: `create${word}RegistrationToken`,
      method: 'POST',
      path: `${folder}/registration-token`,
      status: 200,
      refuses,
      summary: `Create the registration token for runners ${whose} (Gitea-compatible)`,
      response: z.strictObject({ token: z.string() }).meta({ id: 'ActionRegistrationToken' }),
      async run(call) {
        const madeBy = (call as unknown as AnyCall).viewer;
        const token = await call.deps.ci.runners.resetRegistrationToken(
          scope(call),
          madeBy.kind === 'person' ? madeBy.id : null,
        );
        return { kind: 'json', value: { token }, showsSecret: true };
      },
    }),
    operation({
      ...common,
      id: `get${word}ActionRunner`,
      method: 'GET',
      path: `${folder}/{runner}`,
      status: 200,
      refuses: [404],
      summary: `Get a runner ${whose} in Gitea’s format`,
      response: runner,
      run: async (call) => json(showRunner(await call.deps.ci.runners.find(scope(call), runnerIn(call.params)))),
    }),
    operation({
      ...common,
      id: `edit${word}ActionRunner`,
      method: 'PATCH',
      path: `${folder}/{runner}`,
      status: 200,
      refuses: [404],
      summary: `Pause or resume a runner ${whose}`,
      refusesUnknownKeys: true,
      body: z.object({ disabled: z.boolean() }),
      response: runner,
      async run(call) {
        const { runners } = call.deps.ci;
        const id = runnerIn(call.params);
        await runners.setDisabled(scope(call), id, call.body.disabled);
        return json(showRunner(await runners.find(scope(call), id)));
      },
    }),
    operation({
      ...common,
      id: `delete${word}ActionRunner`,
      method: 'DELETE',
      path: `${folder}/{runner}`,
      status: 204,
      refuses: [404],
      summary: `Remove a runner ${whose} (Gitea-compatible)`,
      async run(call) {
        await call.deps.ci.runners.remove(scope(call), runnerIn(call.params));
        return noContent();
      },
    }),
  ];
}

const nameAgain = z.string().optional().describe('Must equal the name in the path');

/** Forgejo's clients send the name in the body and in the address. Throws `invalid_input` where the two differ. */
function refuseOtherName(name: string, again: string | undefined): void {
  if (again !== undefined && again !== '' && again.toUpperCase() !== name.toUpperCase())
    throw invalid('invalid_input', 'The name in the body differs from the name in the address.', { field: 'name' });
}

function secretsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Secrets', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall);
  const secrets = `${at}/actions/secrets` as const;
  const variables = `${at}/actions/variables` as const;
  const findVariable = async (call: { deps: AnyCall['deps']; params: object }) => {
    const name = inPath(call.params as Record<string, string>, 'variable').toUpperCase();
    return (await call.deps.ci.variables.list(scope(call))).find((row) => row.name.toUpperCase() === name);
  };
  const absent = () => notFound('variable_not_found', 'There is no such variable.');
  const show = ({ name, value }: { name: string; value: string }): z.output<typeof variable> => ({
    owner_id: 0,
    repo_id: 0,
    name,
    data: value,
    description: '',
  });
  return [
    operation({
      ...common,
      id: `list${word}ActionSecrets`,
      method: 'GET',
      path: secrets,
      status: 200,
      refuses,
      summary: `List the names of the secrets ${whose} in Gitea’s format`,
      response: z.array(secret),
      async run(call) {
        const rows = await call.deps.ci.secrets.list(scope(call));
        return json(rows.map(({ name, createdAt }) => ({ name, description: '', created_at: giteaTime(createdAt) })));
      },
    }),
    operation({
      ...common,
      id: `set${word}ActionSecret`,
      method: 'PUT',
      path: `${secrets}/{secret}`,
      status: 201,
      alsoStatus: 204,
      refuses: [...refuses, 409],
      summary: `Create or update a secret ${whose} (Gitea-compatible)`,
      refusesUnknownKeys: true,
      body: z.object({
        name: nameAgain,
        data: z.string(),
        description: z.string().optional().describe('Accepted but not stored'),
      }),
      async run(call) {
        const name = inPath(call.params, 'secret');
        refuseOtherName(name, call.body.name);
        const isThere = (await call.deps.ci.secrets.list(scope(call))).some(
          (row) => row.name.toUpperCase() === name.toUpperCase(),
        );
        await call.deps.ci.secrets.set(scope(call), { name, value: call.body.data });
        return isThere ? { kind: 'nothing', status: 204 } : noContent();
      },
    }),
    operation({
      ...common,
      id: `delete${word}ActionSecret`,
      method: 'DELETE',
      path: `${secrets}/{secret}`,
      status: 204,
      refuses: [404],
      summary: `Remove a secret ${whose} (Gitea-compatible)`,
      async run(call) {
        await call.deps.ci.secrets.remove(scope(call), inPath(call.params, 'secret'));
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `list${word}ActionVariables`,
      method: 'GET',
      path: variables,
      status: 200,
      refuses,
      summary: `List the variables ${whose} in Gitea’s format`,
      response: z.array(variable),
      run: async (call) => json((await call.deps.ci.variables.list(scope(call))).map(show)),
    }),
    operation({
      ...common,
      id: `get${word}ActionVariable`,
      method: 'GET',
      path: `${variables}/{variable}`,
      status: 200,
      refuses: [404],
      summary: `Get a variable ${whose} in Gitea’s format`,
      response: variable,
      async run(call) {
        const found = await findVariable(call);
        if (found === undefined) throw absent();
        return json(show(found));
      },
    }),
    operation({
      ...common,
      id: `create${word}ActionVariable`,
      method: 'POST',
      path: `${variables}/{variable}`,
      status: 201,
      refuses: [...refuses, 409],
      summary: `Create a variable ${whose} (Gitea-compatible)`,
      refusesUnknownKeys: true,
      body: z.object({
        name: nameAgain,
        value: z.string(),
        description: z.string().optional().describe('Accepted but not stored'),
      }),
      async run(call) {
        const name = inPath(call.params, 'variable');
        refuseOtherName(name, call.body.name);
        if ((await findVariable(call)) !== undefined)
          throw conflict('variable_exists', 'A variable with this name already exists.');
        await call.deps.ci.variables.set(scope(call), { name, value: call.body.value });
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `update${word}ActionVariable`,
      method: 'PUT',
      path: `${variables}/{variable}`,
      status: 204,
      refuses: [404, 409],
      summary: `Update or rename a variable ${whose} (Gitea-compatible)`,
      refusesUnknownKeys: true,
      body: z.object({
        name: z.string().optional().describe('New name; an empty value leaves it unchanged'),
        value: z.string(),
        description: z.string().optional().describe('Accepted but not stored'),
      }),
      async run(call) {
        const found = await findVariable(call);
        if (found === undefined) throw absent();
        const { name, value } = call.body;
        const { variables } = call.deps.ci;
        await variables.set(scope(call), { name: name || found.name, value });
        if (name && name.toUpperCase() !== found.name.toUpperCase()) await variables.remove(scope(call), found.name);
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `delete${word}ActionVariable`,
      method: 'DELETE',
      path: `${variables}/{variable}`,
      status: 204,
      refuses: [404],
      summary: `Remove a variable ${whose} (Gitea-compatible)`,
      async run(call) {
        await call.deps.ci.variables.remove(scope(call), inPath(call.params, 'variable'));
        return noContent();
      },
    }),
  ];
}

/** Gitea's API has no secrets of the whole server. */
export const actionSettingOperations: readonly Operation[] = [
  ...ciScopePaths.flatMap(runnersOf),
  ...ciScopePaths.filter(({ at }) => at !== '/admin').flatMap(secretsOf),
];
