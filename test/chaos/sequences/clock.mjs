// The program's clock goes ahead by so many days: what is to happen after months happens in a test.
const aheadMs = Math.round(Number(process.env.TEST_DAYS_AHEAD ?? 0) * 86_400_000);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + aheadMs] : args));
  }

  static now() {
    return RealDate.now() + aheadMs;
  }
};
