export { areaNames, createDoctor } from './doctor.ts';
export type { Doctor } from './doctor.ts';
export type { AreaReport, Finding, Level } from './finding.ts';
export type { DoctorRoom } from './room.ts';
