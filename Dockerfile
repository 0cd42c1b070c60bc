# Two stages: the first installs, from wheels and by hash; the second has the result and no tools to change it.
# docker build -t nardy .     PYTHON= chooses another version that the locked wheels are made for (3.11 to 3.14).
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ONLY_BINARY=:all: PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN python -m venv /opt/nardy && /opt/nardy/bin/python -m pip install --require-hashes -r requirements/runtime.txt
RUN python -m venv /opt/build && /opt/build/bin/python -m pip install --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY app app
COPY static static
COPY migrations migrations
RUN /opt/build/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /opt/wheel . \
    && /opt/nardy/bin/python -m pip install --no-deps --no-index /opt/wheel/*.whl \
    && /opt/nardy/bin/python -m pip uninstall --yes pip

FROM python:${PYTHON}-slim
RUN groupadd --gid 10001 nardy \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin nardy \
    && install -d -o nardy -g nardy -m 0700 /data
COPY --from=build /opt/nardy /opt/nardy
ENV PATH=/opt/nardy/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
ENV HOST=0.0.0.0 PORT=8000 DATA_DIR=/data LOG_FORMAT=json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", "import http.client, os, sys; there = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=4); there.request('GET', '/readyz'); sys.exit(there.getresponse().status != 200)"]
ENTRYPOINT ["nardy"]
CMD ["serve"]
