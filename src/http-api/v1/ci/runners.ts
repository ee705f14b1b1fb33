import { z } from 'zod';
import type { Runner } from '../../../ci/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { ciScopePaths, inPath } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';
import {
  editedRunner,
  madeRunner,
  newRunner,
  registrationToken,
  runner as runnerShape,
  runnerJob,
  sharedRunner,
} from './ci-schemas.ts';
import { idBefore, paging } from '../shapes/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

function showRunner(row: Runner): z.output<typeof runnerShape> {
  const {
    id,
    uuid,
    name,
    status,
    isDisabled,
    ephemeral,
    trustedOnly,
    version,
    labels,
    declaredLabels,
    hasChosenLabels,
    capabilities,
    createdAt,
    lastSeenAt,
  } = row;
  return {
    id,
    uuid,
    name,
    status,
    ephemeral,
    trustedOnly,
    version,
    disabled: isDisabled,
    labels: [...labels],
    declaredLabels: [...declaredLabels],
    labelsChosen: hasChosenLabels,
    capabilities: [...capabilities],
    createdAt: isoTime(createdAt),
    lastSeenAt: isoTimeOrNull(lastSeenAt),
  };
}

/** Throws `runner_not_found`, also for an invalid number. */
function readId(params: Readonly<Record<string, string>>): number {
  const text = inPath(params, 'id');
  if (!/^\d{1,15}$/.test(text)) throw notFound('runner_not_found', 'There is no such runner.');
  return Number(text);
}

function operationsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Runners', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall);
  return [
    operation({
      ...common,
      id: `list${word}Runners`,
      method: 'GET',
      path: `${at}/runners`,
      status: 200,
      refuses,
      summary: `List the runners ${whose}, oldest first`,
      response: z.array(runnerShape),
      run: async (call) => json((await call.deps.ci.runners.list(scope(call))).map(showRunner)),
    }),
    operation({
      ...common,
      id: `add${word}Runner`,
      method: 'POST',
      path: `${at}/runners`,
      status: 201,
      refuses: [...refuses, 409],
      summary: `Create a runner ${whose}`,
      description: 'The runner’s configuration file needs its UUID and token. Only this response contains the token.',
      refusesUnknownKeys: true,
      body: newRunner,
      response: madeRunner,
      async run(call) {
        const { name, ephemeral = false } = call.body;
        const { runner, token } = await call.deps.ci.runners.create(scope(call), { name, ephemeral });
        return { kind: 'json', value: { ...showRunner(runner), token }, showsSecret: true };
      },
    }),
    operation({
      ...common,
      id: `register${word}Runner`,
      method: 'PUT',
      path: `${at}/runners/shared`,
      status: 200,
      refuses: [...refuses, 409],
      summary: `Register a runner ${whose} with a secret that the runner already has`,
      description:
        'Registering again with a secret whose first 16 digits match updates the runner’s name, labels and secret.',
      refusesUnknownKeys: true,
      body: sharedRunner,
      response: runnerShape,
      async run(call) {
        const { name, secret, labels = [] } = call.body;
        const registered = await call.deps.ci.runners.registerOffline(
          scope(call),
          { name, secret, labels },
          { mayMove: access === 'administrator' },
        );
        return json(showRunner(registered));
      },
    }),
    operation({
      ...common,
      id: `reset${word}RegistrationToken`,
      method: 'POST',
      path: `${at}/runners/token`,
      status: 201,
      refuses,
      summary: `Create the registration token for runners ${whose}`,
      description:
        'Any number of runners can register with it. The previous token stops working; registered runners keep working.',
      response: registrationToken,
      async run(call) {
        const madeBy = call.viewer.kind === 'person' ? call.viewer.id : null;
        return {
          kind: 'json',
          value: { token: await call.deps.ci.runners.resetRegistrationToken(scope(call), madeBy) },
          showsSecret: true,
        };
      },
    }),
    operation({
      ...common,
      id: `get${word}Runner`,
      method: 'GET',
      path: `${at}/runners/{id}`,
      status: 200,
      refuses: [404],
      summary: `Get a runner ${whose}`,
      response: runnerShape,
      run: async (call) => json(showRunner(await call.deps.ci.runners.find(scope(call), readId(call.params)))),
    }),
    operation({
      ...common,
      id: `list${word}RunnerJobs`,
      method: 'GET',
      path: `${at}/runners/{id}/jobs`,
      status: 200,
      refuses: [404],
      isPaged: true,
      summary: `List the jobs assigned to a runner ${whose}, newest first`,
      query: z.object(paging),
      response: z.array(runnerJob),
      async run(call) {
        const { ci, repositories } = call.deps;
        const { limit, after } = call.query;
        const found = await ci.runners.find(scope(call), readId(call.params));
        const { tasks, next } = await ci.runners.tasksOf(found, { limit, before: idBefore(after) });
        const located = await repositories.locate([...new Set(tasks.map(({ repositoryId }) => repositoryId))]);
        const rows = tasks.flatMap((task) => {
          const place = located.get(task.repositoryId);
          if (place === undefined) return [];
          const canonical = { owner: place.owner.handle, name: place.repository.name };
          return {
            job: task.jobId,
            name: task.jobName,
            workflowName: task.workflowName,
            repository: `${canonical.owner}/${canonical.name}`,
            run: task.runNumber,
            status: task.status,
            startedAt: isoTimeOrNull(task.startedAt),
            finishedAt: isoTimeOrNull(task.stoppedAt),
            url: `${call.origin}${repositoryUrl(canonical)}/runs/${task.runNumber}/jobs/${task.jobId}`,
          };
        });
        return listed(rows, next === null ? null : String(next));
      },
    }),
    operation({
      ...common,
      id: `edit${word}Runner`,
      method: 'PATCH',
      path: `${at}/runners/{id}`,
      status: 200,
      refuses: [404],
      summary: `Update a runner ${whose}: pause it, resume it, or set its labels and trust level`,
      refusesUnknownKeys: true,
      body: editedRunner,
      response: runnerShape,
      async run(call) {
        const { runners } = call.deps.ci;
        const [at, runner] = [scope(call), readId(call.params)];
        const { disabled, trustedOnly, labels } = call.body;
        if (labels !== undefined) await runners.setLabels(at, runner, labels);
        if (disabled !== undefined) await runners.setDisabled(at, runner, disabled);
        if (trustedOnly !== undefined) await runners.setTrustedOnly(at, runner, trustedOnly);
        return json(showRunner(await runners.find(at, runner)));
      },
    }),
    operation({
      ...common,
      id: `remove${word}Runner`,
      method: 'DELETE',
      path: `${at}/runners/{id}`,
      status: 204,
      refuses: [404],
      summary: `Remove a runner ${whose}; its credentials become invalid`,
      async run(call) {
        await call.deps.ci.runners.remove(scope(call), readId(call.params));
        return noContent();
      },
    }),
  ];
}

/** The runners of all scopes. */
export const runnerOperations: readonly Operation[] = ciScopePaths.flatMap(operationsOf);
