// The two queues that run on Node, driven by lines of JSON on standard input:
// one command a line, one answer a line. `node queues.mjs pgboss|graphile`, with
// DATABASE_URL and POOL (connections).
import { createInterface } from "node:readline";
import { EventEmitter } from "node:events";
import PgBoss from "pg-boss";
import { runMigrations, makeWorkerUtils, run as runGraphile } from "graphile-worker";
import pg from "pg";

const url = process.env.DATABASE_URL;
const POOL = Number(process.env.POOL ?? 16);
const QUEUE = "items";
const MOST_PER_REQUEST = 5000;

const micros = (from) => Number((process.hrtime.bigint() - from) / 1000n);
const now = () => process.hrtime.bigint();

const WORDS = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. ";
// The same text as the other contenders get.
const text = (number, size) => (`Problem ${number}. ` + WORDS.repeat(Math.floor(size / WORDS.length) + 1)).slice(0, size);
const payload = (number, bytes) => ({ question: text(number, Math.max(1, bytes - 40)) });

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// What came of working, as the runner reads it.
const newRun = () => ({ done: 0, doubles: 0, empty: 0, claim_us: [], finish_us: [], seen: new Set() });
const answerOf = ({ seen, ...run }) => run;
const took = (run, id) => {
  if (run.seen.has(id)) run.doubles++;
  run.seen.add(id);
  run.done++;
};

// turnsOf lets so many work at a time, the others in the order in which they came.
const turnsOf = (most) => {
  let open = 0;
  const line = [];
  return async (work) => {
    if (open < most) open++;
    else await new Promise((turn) => line.push(turn));
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else open--;
    }
  };
};

class Boss {
  async setup() {
    this.boss = new PgBoss({ connectionString: url, max: POOL, application_name: "race" });
    this.boss.on("error", (e) => console.error("pg-boss:", e.message));
    await this.boss.start();
    const have = await this.boss.getQueue(QUEUE);
    if (!have) await this.boss.createQueue(QUEUE, { name: QUEUE });
  }

  async fill({ items, bytes }) {
    for (let at = 0; at < items; at += MOST_PER_REQUEST) {
      await this.insert({ items: Math.min(MOST_PER_REQUEST, items - at), bytes, from: at });
    }
  }

  // insert([...]): every item of a request in one statement.
  async insert({ items, bytes, from = 0 }) {
    const jobs = Array.from({ length: items }, (_, i) => ({ name: QUEUE, data: payload(from + i, bytes) }));
    const began = now();
    await this.boss.insert(jobs);
    return { us: micros(began) };
  }

  async one(run, asked) {
    const [job] = await this.boss.fetch(QUEUE); // batchSize is 1
    if (!job) return false;
    run.claim_us.push(micros(asked));
    const began = now();
    await this.boss.complete(QUEUE, job.id);
    run.finish_us.push(micros(began));
    took(run, job.id);
    return true;
  }

  async work({ clients, limit, seconds }) {
    const run = newRun();
    const end = Date.now() + seconds * 1000;
    let begun = 0;
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (begun++ < limit && Date.now() < end) if (!(await this.one(run, now()))) return;
      }),
    );
    return answerOf(run);
  }

  // An open loop with so many clients: what has not had its turn by half as long
  // again is given up and counts with the time until then.
  async pace({ rate, seconds, clients }) {
    const run = newRun();
    const turns = turnsOf(clients);
    const began = now();
    const end = began + BigInt(Math.round(seconds * 1.5e9));
    const all = [];
    for (let n = 0; n < rate * seconds; n++) {
      const due = began + BigInt(Math.round((n / rate) * 1e9));
      const ms = Number(due - now()) / 1e6;
      if (ms > 0) await sleep(ms);
      const item = turns(async () => {
        if (now() > end) run.claim_us.push(micros(due));
        else if (!(await this.one(run, due))) run.empty++; // its latency counts from when it was due
      });
      item.catch(() => {}); // Promise.all tells of it
      all.push(item);
    }
    await Promise.all(all);
    return answerOf(run);
  }

  // effects works until it is told to stop, and every item writes a row: chaos.
  async effects({ clients, millis }) {
    const pool = effectsPool();
    for (let i = 0; i < clients; i++) {
      await this.boss.work(QUEUE, { batchSize: 1, pollingIntervalSeconds: 0.5 }, async ([job]) => effect(pool, job.data.n, millis));
    }
  }

  async send({ n }) {
    await this.boss.send(QUEUE, { n });
  }

  async hands() {
    return [...inHands];
  }

  async stop() {
    await this.boss.stop({ graceful: false, close: true });
  }
}

class Graphile {
  async setup() {
    await runMigrations({ connectionString: url });
    this.utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: POOL });
  }

  async fill({ items, bytes }) {
    for (let at = 0; at < items; at += MOST_PER_REQUEST) {
      await this.insert({ items: Math.min(MOST_PER_REQUEST, items - at), bytes, from: at });
    }
  }

  async insert({ items, bytes, from = 0 }) {
    const specs = JSON.stringify(Array.from({ length: items }, (_, i) => ({ identifier: QUEUE, payload: payload(from + i, bytes) })));
    const began = now();
    await this.utils.withPgClient((client) =>
      client.query("SELECT FROM graphile_worker.add_jobs((SELECT array_agg(s) FROM json_populate_recordset(NULL::graphile_worker.job_spec, $1::json) s))", [specs]),
    );
    return { us: micros(began) };
  }

  // Its workers take and finish one job after the other: nothing is batched.
  async work({ clients, limit, seconds }) {
    const run = newRun();
    const events = new EventEmitter();
    events.setMaxListeners(0);
    const asked = new Map();
    let enough;
    const over = new Promise((done) => (enough = done));
    events.on("worker:getJob:start", ({ worker }) => asked.set(worker.workerId, now()));
    events.on("worker:getJob:empty", () => enough());
    events.on("job:start", ({ worker }) => {
      const at = asked.get(worker.workerId);
      if (at) run.claim_us.push(micros(at));
    });
    const runner = await runGraphile({
      connectionString: url, maxPoolSize: POOL, concurrency: clients, pollInterval: 1000, noHandleSignals: true, events,
      noPreparedStatements: false, logger: silent(),
      taskList: {
        [QUEUE]: async (_, helpers) => {
          took(run, helpers.job.id);
          if (run.done >= limit) enough();
        },
      },
    });
    await Promise.race([over, sleep(seconds * 1000)]);
    await runner.stop();
    return answerOf(run);
  }

  async pace() {
    return { pushed: true };
  }

  async effects({ clients, millis }) {
    const pool = effectsPool();
    this.runner = await runGraphile({
      connectionString: url, maxPoolSize: POOL, concurrency: clients, pollInterval: 500, noHandleSignals: true, logger: silent(),
      taskList: { [QUEUE]: async ({ n }) => effect(pool, n, millis) },
    });
    // Whoever runs it waits for this promise, and for nothing else: the process ends with it.
    const ended = (e) => {
      console.error("graphile-worker ended:", e?.message);
      process.exit(1);
    };
    this.runner.promise.then(ended, ended);
  }

  async send({ n }) {
    await this.utils.addJob(QUEUE, { n });
  }

  async hands() {
    return [...inHands];
  }

  async stop() {
    await this.runner?.stop();
    await this.utils.release();
  }
}

// An item's effect is a row of its own, written after the work of so many
// milliseconds: what was lost or done twice shows in the table.
function effectsPool() {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", (e) => console.error("effects:", e.message));
  return pool;
}

const inHands = new Set();

async function effect(pool, n, millis) {
  inHands.add(n);
  try {
    await sleep(millis);
    await pool.query("INSERT INTO race_effects (n) VALUES ($1)", [n]);
  } finally {
    inHands.delete(n);
  }
}

function silent() {
  const log = () => () => {};
  return { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, scope: silent, _logFactory: log };
}

const driver = { pgboss: Boss, graphile: Graphile }[process.argv[2]];
if (!driver) {
  console.error("queues.mjs pgboss|graphile");
  process.exit(2);
}
process.on("unhandledRejection", (e) => console.error("unhandled:", e?.message ?? e));

const one = new driver();
for await (const line of createInterface({ input: process.stdin })) {
  const { cmd, ...args } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: (await one[cmd](args)) ?? {} };
  } catch (e) {
    answer = { error: String(e?.stack ?? e) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
