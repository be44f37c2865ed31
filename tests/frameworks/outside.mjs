// Refuses every name but this machine's own, and lists what was looked for in the file of UMPIRICAL_OUTSIDE.
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import net from "node:net";

const lookup = dns.lookup;
dns.lookup = (host, ...rest) => {
  if (["localhost", "127.0.0.1", "::1"].includes(host)) return lookup(host, ...rest);
  appendFileSync(process.env.UMPIRICAL_OUTSIDE, `${host}\n`);
  return rest.at(-1)(new Error(`${host} is not this machine`));
};

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const host = [given[0]].flat()[0]?.host;
  if (host && net.isIP(host) && !/^(127\.|::1$)/.test(host)) {
    appendFileSync(process.env.UMPIRICAL_OUTSIDE, `${host}\n`);
    throw new Error(`${host} is not this machine`);
  }
  return connect.apply(this, given);
};
