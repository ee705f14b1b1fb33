import { z } from 'zod';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { json, noContent } from '../../responses.ts';
import { isoTime } from '../shapes/payloads.ts';

/** Secrets and variables of an environment. */

const one = '/repos/{owner}/{name}/environments/{environment}';
const time = z.iso.datetime();

const values = { tag: 'Secrets', cost: 'rows', access: 'repository:admin' } as const;

const listSecrets = operation({
  ...values,
  id: 'listEnvironmentSecrets',
  method: 'GET',
  path: `${one}/secrets`,
  summary: 'List the names of an environment’s secrets',
  description: 'The server sends a value only to the runner of a job that has entered the environment.',
  status: 200,
  refuses: [404],
  response: z.strictObject({
    total_count: z.int(),
    secrets: z.array(z.strictObject({ name: z.string(), created_at: time, updated_at: time })),
  }),
  async run({ found, params, deps }) {
    const rows = await deps.ci.environments.secrets.list(found, params.environment);
    return json({
      total_count: rows.length,
      secrets: rows.map(({ name, createdAt, updatedAt }) => ({
        name,
        created_at: isoTime(createdAt),
        updated_at: isoTime(updatedAt),
      })),
    });
  },
});

const setSecret = operation({
  ...values,
  id: 'setEnvironmentSecret',
  method: 'PUT',
  path: `${one}/secrets/{secret}`,
  summary: 'Create or update an environment secret',
  status: 204,
  refuses: [404, 409],
  refusesUnknownKeys: true,
  body: z.object({ value: z.string() }),
  async run({ found, params, body, deps }) {
    await deps.ci.environments.secrets.set(found, params.environment, { name: params.secret, value: body.value });
    return noContent();
  },
});

const removeSecret = operation({
  ...values,
  id: 'removeEnvironmentSecret',
  method: 'DELETE',
  path: `${one}/secrets/{secret}`,
  summary: 'Remove an environment secret',
  status: 204,
  refuses: [404],
  async run({ found, params, deps }) {
    await deps.ci.environments.secrets.remove(found, params.environment, params.secret);
    return noContent();
  },
});

const variable = z.strictObject({ name: z.string(), value: z.string(), created_at: time, updated_at: time });

const listVariables = operation({
  ...values,
  id: 'listEnvironmentVariables',
  method: 'GET',
  path: `${one}/variables`,
  summary: 'List environment variables',
  status: 200,
  refuses: [404],
  response: z.strictObject({ total_count: z.int(), variables: z.array(variable) }),
  async run({ found, params, deps }) {
    const rows = await deps.ci.environments.variables.list(found, params.environment);
    return json({
      total_count: rows.length,
      variables: rows.map(({ name, value, createdAt, updatedAt }) => ({
        name,
        value,
        created_at: isoTime(createdAt),
        updated_at: isoTime(updatedAt),
      })),
    });
  },
});

const setVariable = operation({
  ...values,
  id: 'setEnvironmentVariable',
  method: 'PUT',
  path: `${one}/variables/{variable}`,
  summary: 'Create or update an environment variable',
  status: 204,
  refuses: [404, 409],
  refusesUnknownKeys: true,
  body: z.object({ value: z.string() }),
  async run({ found, params, body, deps }) {
    await deps.ci.environments.variables.set(found, params.environment, { name: params.variable, value: body.value });
    return noContent();
  },
});

const removeVariable = operation({
  ...values,
  id: 'removeEnvironmentVariable',
  method: 'DELETE',
  path: `${one}/variables/{variable}`,
  summary: 'Remove an environment variable',
  status: 204,
  refuses: [404],
  async run({ found, params, deps }) {
    await deps.ci.environments.variables.remove(found, params.environment, params.variable);
    return noContent();
  },
});

export const environmentValueOperations: readonly Operation[] = [
  listSecrets,
  setSecret,
  removeSecret,
  listVariables,
  setVariable,
  removeVariable,
];
