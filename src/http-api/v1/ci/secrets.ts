import { z } from 'zod';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { ciScopePaths, inPath } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';
import { newSecret, newValue, secret as secretShape, variable as variableShape } from './ci-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

function operationsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Secrets', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall);
  return [
    operation({
      ...common,
      id: `list${word}Secrets`,
      method: 'GET',
      path: `${at}/secrets`,
      status: 200,
      refuses,
      summary: `List the names of the secrets ${whose}`,
      description: 'The server sends values only to runners.',
      response: z.array(secretShape),
      async run(call) {
        const rows = await call.deps.ci.secrets.list(scope(call));
        return json(
          rows.map(({ name, createdAt, updatedAt, onlyFor }) => ({
            name,
            ...(onlyFor === null ? {} : { onlyFor }),
            createdAt: isoTime(createdAt),
            updatedAt: isoTime(updatedAt),
          })),
        );
      },
    }),
    operation({
      ...common,
      id: `set${word}Secret`,
      method: 'PUT',
      path: `${at}/secrets/{secret}`,
      status: 204,
      refuses: [...refuses, 409],
      summary: `Create or update a secret ${whose}`,
      refusesUnknownKeys: true,
      body: newSecret,
      async run(call) {
        await call.deps.ci.secrets.set(scope(call), {
          name: inPath(call.params, 'secret'),
          value: call.body.value,
          onlyFor: call.body.onlyFor,
        });
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `remove${word}Secret`,
      method: 'DELETE',
      path: `${at}/secrets/{secret}`,
      status: 204,
      refuses: [404],
      summary: `Remove a secret ${whose}`,
      async run(call) {
        await call.deps.ci.secrets.remove(scope(call), inPath(call.params, 'secret'));
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `list${word}Variables`,
      method: 'GET',
      path: `${at}/variables`,
      status: 200,
      refuses,
      summary: `List the variables ${whose}`,
      response: z.array(variableShape),
      async run(call) {
        const rows = await call.deps.ci.variables.list(scope(call));
        return json(rows.map(({ name, value, updatedAt }) => ({ name, value, updatedAt: isoTime(updatedAt) })));
      },
    }),
    operation({
      ...common,
      id: `set${word}Variable`,
      method: 'PUT',
      path: `${at}/variables/{variable}`,
      status: 204,
      refuses: [...refuses, 409],
      summary: `Create or update a variable ${whose}`,
      refusesUnknownKeys: true,
      body: newValue,
      async run(call) {
        await call.deps.ci.variables.set(scope(call), {
          name: inPath(call.params, 'variable'),
          value: call.body.value,
        });
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `remove${word}Variable`,
      method: 'DELETE',
      path: `${at}/variables/{variable}`,
      status: 204,
      refuses: [404],
      summary: `Remove a variable ${whose}`,
      async run(call) {
        await call.deps.ci.variables.remove(scope(call), inPath(call.params, 'variable'));
        return noContent();
      },
    }),
  ];
}

/** The secrets and variables of all scopes. */
export const secretOperations: readonly Operation[] = ciScopePaths.flatMap(operationsOf);
