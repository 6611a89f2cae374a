// The handler that Restate runs for the flow: it waits for three awakeables, and
// writes a row for each of them and for the start. PORT and DATABASE_URL say
// where.
import * as restate from "@restatedev/restate-sdk";
import pg from "pg";

const STEPS = 3;
// The SDK calls it; Node.js has it since version 22.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL ?? 16) });
pool.on("error", (e) => console.error("postgres:", e.message));

const life = restate.service({
  name: "life",
  handlers: {
    run: async (ctx, { id }) => {
      for (let step = 0; step <= STEPS; step++) {
        // The row carries the id of the awakeable that the next message resolves.
        const next = step < STEPS ? ctx.awakeable() : undefined;
        await ctx.run(`step ${step}`, async () => {
          if (step === 0) await pool.query("INSERT INTO flow_steps (id, step, token) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING", [id, next.id]);
          else await pool.query("UPDATE flow_steps SET step = $2, token = $3 WHERE id = $1 AND step < $2", [id, step, next?.id ?? ""]);
        });
        if (next) await next.promise;
      }
      return STEPS;
    },
  },
});

const port = await restate.serve({ services: [life], port: Number(process.env.PORT) });
console.log("READY", port);
