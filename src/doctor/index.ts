export { countInstance } from './count-instance.ts';
export type { InstanceCounts } from './count-instance.ts';
export { storageFault } from './storage-fault.ts';
export { areaNames, createDoctor } from './doctor.ts';
export type { Doctor } from './doctor.ts';
export { examineAddress } from './checks/address.ts';
export { examinePeers } from './checks/peers.ts';
export type { AreaReport, Finding, Level } from './finding.ts';
export type { DoctorRoom } from './room.ts';
