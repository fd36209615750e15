/** The API does not take a request. */
export class Refused extends Error {}
