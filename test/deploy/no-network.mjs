// Preloaded into wrangler: whoever wants to leave this machine is told no, and stands in the error output.
import dns from 'node:dns'
import net from 'node:net'

function refuse(host) {
  process.stderr.write(`network access: ${host}\n`)
  throw new Error(`no network in this test: ${host}`)
}

const isLocal = host => host === undefined || ['localhost', '127.0.0.1', '::1'].includes(host)

const { lookup } = dns
dns.lookup = (host, ...rest) => (isLocal(host) ? lookup(host, ...rest) : refuse(host))

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (...values) {
  const [options] = Array.isArray(values[0]) ? values[0] : values
  const host = typeof options === 'object' ? options.host : values[1]
  return isLocal(host) ? connect.apply(this, values) : refuse(host)
}
