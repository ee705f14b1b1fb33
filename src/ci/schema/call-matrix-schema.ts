import { EntitySchema } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { CallMatrix } from '../workflows/expand-call.ts';

/** A row of `ci_call_matrices`: the evaluated strategy of a job that calls a workflow, in one run. */
interface CallMatrixRow {
  runId: number;
  /** Order of evaluation: a call comes after the call that contains it. */
  position: number;
  callKey: string;
  matrix: Omit<CallMatrix, 'callKey'>;
}

export const callMatrixSchema = new EntitySchema<CallMatrixRow>({
  name: 'ciCallMatrix',
  tableName: 'ci_call_matrices',
  columns: {
    runId: { name: 'run_id', type: 'integer', primary: true },
    position: { type: 'integer', primary: true },
    callKey: { name: 'call_key', type: 'text' },
    matrix: { type: 'simple-json' },
  },
});

/** The evaluated strategies of a run, in order. */
export async function callMatricesOf(manager: EntityManager, runId: number): Promise<CallMatrix[]> {
  const rows = await manager.find(callMatrixSchema, { where: { runId }, order: { position: 'ASC' } });
  return rows.map(({ callKey, matrix }) => ({ callKey, ...matrix }));
}
