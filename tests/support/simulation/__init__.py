"""A whole small world from one number: servers, their database, the network, two players and a spectator.

Everything of `app` is real: sockets' messages, services, stores, SQL. Only what the world does to it is simulated:

    loop.py     time, which jumps to the next thing that happens, and chance, which comes from the seed
    disk.py     the database: SQLite in memory; it outlives servers, answers late, or not at all
    wires.py    sockets between browsers and servers: delays, broken lines; notices between servers
    people.py   browsers, as static/js/socket.js is one, and what their people do
    world.py    servers that crash, stop and start; who does what when; the run of one seed
    twins.py    the same run with one hidden choice changed
    checks.py   what must be true of every run, computed anew from the journal and from what was sent and when

One seed is one run, always the same: `run(7)` here, `python -m bench.model --from 7 --seeds 1` in a terminal.

Two things are not as in production: on PostgreSQL a server lives while it holds a lock, which the disk stands in for;
and a day without a play (§8.6) is two minutes here.
"""
