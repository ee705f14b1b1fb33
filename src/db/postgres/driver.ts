import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

/**
 * Makes TypeORM's driver known to the executable, whose start loads none of it (`scripts/executable/bundle.ts`). In a
 * checkout TypeORM finds it by itself.
 */
export function registerDriver(): void {
  Object.assign(globalThis, { [Symbol.for('hearth.postgres')]: { PostgresDriver } });
}
