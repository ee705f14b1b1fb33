import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

/**
 * Registers TypeORM's driver for the executable, whose start does not load it (`scripts/executable/bundle.ts`). In a
 * checkout TypeORM finds it by itself.
 */
export function registerDriver(): void {
  Object.assign(globalThis, { [Symbol.for('hearth.postgres')]: { PostgresDriver } });
}
