import type { Migration } from '../src/db/index.ts';

/** The administrator's page counts open deliveries by host; without `cancelled_at` in the index it read each row. */
export const openDeliveries: Migration = {
  version: 73,
  name: 'OpenDeliveries',
  statements: [
    'DROP INDEX federation_delivery_open',
    `CREATE INDEX federation_delivery_open ON federation_delivery (host, state)
       WHERE state <> 'DELIVERED' AND cancelled_at IS NULL`,
  ],
};
