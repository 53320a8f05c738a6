"""The page where the console has not been built: what this is, how it is reached, and how the console is built.

Self-contained; no script, nothing from elsewhere.
"""

import base64
import hashlib

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #1d2430; }
pre { background: #f2f4f7; padding: 1rem; overflow-x: auto; border-radius: 6px; }
td { padding: 0.15rem 1rem 0.15rem 0; vertical-align: top; }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #d7dde6; } pre { background: #1f2630; } a { color: #8ab4f8; }
}
"""

PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Oracle</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Oracle</h1>
<p>An LLM agent for chat products whose control is a behavior tree. This is its HTTP service; it is running.</p>
<h2>Build the web console</h2>
<p>It has not been built here. With Node.js 20.19 or newer and npm, <code>make run</code> builds it and starts the
service. Debian 13 and later have them (<code>apt-get install nodejs npm</code>); for other systems they are at
nodejs.org.</p>
<h2>Ask something</h2>
<pre>curl -N -H 'Content-Type: application/json' \\
  -d '{{"question": "How does the login work?"}}' \\
  <i>this address</i>/api/oracle/stream</pre>
<p>Where the service asks for a token, add <code>-H 'Authorization: Bearer …'</code>.</p>
<h2>Calls</h2>
<table>
<tr><td><code>POST /api/oracle/stream</code></td><td>ask; the answer as server-sent events</td></tr>
<tr><td><code>POST /api/oracle</code></td><td>ask; the answer whole</td></tr>
<tr><td><code>GET /api/oracle/runs/{{run_id}}/stream</code></td><td>take a stream up again</td></tr>
<tr><td><code>GET /api/oracle/runs/{{run_id}}</code></td><td>how a run stands</td></tr>
<tr><td><code>POST /api/oracle/runs/{{run_id}}/cancel</code></td><td>stop it</td></tr>
<tr><td><code>/api/oracle/conversations/{{context_id}}</code></td><td>read or delete a conversation</td></tr>
<tr><td><code>/api/settings/agent-config</code></td><td>limits of your own</td></tr>
<tr><td><code>GET /api/runs</code></td><td>runs, their ticks and signals</td></tr>
<tr><td><a href="/openapi.json"><code>/openapi.json</code></a></td><td>all of it, as a schema</td></tr>
<tr><td><a href="/healthz"><code>/healthz</code></a>, <a href="/readyz"><code>/readyz</code></a>,
<a href="/metrics"><code>/metrics</code></a></td><td>how the service is</td></tr>
</table>
</body>
</html>
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

PAGE_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'"
"""The page's Content-Security-Policy: its own style, and nothing else."""
