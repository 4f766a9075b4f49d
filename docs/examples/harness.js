#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// run_shell for an agent, in Node: harness.js COMMAND
//
// Runs a shell command under cordon and prints what the model gets to see. Everything
// in it comes from the JSON of `cordon run --json`.
'use strict';
const { spawn } = require('node:child_process');

const cordon = process.env.CORDON || 'cordon';

// obj[key]; where obj says "escaped", \xNN stands for a byte that is not UTF-8.
function text(obj, key) {
	const value = obj[key] || '';
	if (!obj.escaped)
		return value;
	return value.replace(/\\(\\|x[0-9a-f]{2})/g, (_, code) =>
		code === '\\' ? '\\' : String.fromCharCode(parseInt(code.slice(1), 16)));
}

// Resolves to the result as docs/result.schema.json says.
function runShell(command, { workdir = '.', timeout = '2m', flags = [] } = {}) {
	const argv = ['run', '--quiet', '--json', '--workdir', workdir, '--timeout', timeout,
		...flags, '--', 'sh', '-c', command];
	return new Promise((resolve, reject) => {
		const child = spawn(cordon, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
		const chunks = [];
		child.stdout.on('data', (chunk) => chunks.push(chunk));
		child.on('error', reject);
		child.on('close', () => {
			const result = JSON.parse(Buffer.concat(chunks).toString());
			// Not even a run: a mistake in flags or configuration.
			if (!('cause' in result))
				reject(new Error(result.error.message));
			else
				resolve(result);
		});
	});
}

function howItEnded(result) {
	if (result.cause === 'exited')
		return `exit code ${result.exit_code}`;
	if (result.cause === 'signal')
		return `ended by signal ${result.signal}`;
	if (result.error)
		return `not started: ${text(result.error, 'message')}`;
	return `ended by the sandbox: ${result.cause}`;
}

function refusal(v) {
	const sure = v.source === 'inferred' ? 'seemingly refused' : 'refused';
	let line = `${sure}: ${v.op} ${text(v, 'object')} (rule: ${text(v, 'rule') || 'none'})`;
	if (v.fix) {
		line += '; ask the user for ';
		if (v.fix.first)
			line += `${text(v.fix, 'first')}, outside, then `;
		line += text(v.fix, 'flags');
		if (v.fix.note)
			line += ` (${text(v.fix, 'note')})`;
		if (v.fix.warning)
			line += ` (warning: ${text(v.fix, 'warning')})`;
	} else if (v.reason) {
		line += `; ${text(v, 'reason')}`;
	}
	return line;
}

function toolResult(result) {
	return [text(result, 'stdout'), text(result, 'stderr'), howItEnded(result),
		...result.violations.map(refusal)]
		.filter((part) => part)
		.map((part) => part.replace(/\n+$/, ''))
		.join('\n');
}

if (process.argv.length !== 3) {
	console.error('usage: harness.js COMMAND');
	process.exit(2);
}
runShell(process.argv[2]).then((result) => {
	console.log(toolResult(result));
	process.exitCode = result.cause === 'exited' && result.exit_code === 0 ? 0 : 1;
}, (error) => {
	console.error(error.message);
	process.exitCode = 2;
});
