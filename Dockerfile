# Margay with nvcc, for machines and build servers without a GPU:
#
#     docker build -t margay .
#     docker run --rm -v "$PWD:/work" margay profile kernel.cu
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates dpkg-dev
COPY . /margay
WORKDIR /margay
# Wheels and no toolkit: /margay/build/cuda has nvcc afterwards, and nothing else is needed of it.
RUN MARGAY_CUDA=wheels tools/setup.sh build build \
    && cmake --preset default -B build -G Ninja -DMARGAY_TESTS=OFF -DMARGAY_BENCH=OFF -DMARGAY_KERNELS=OFF \
    && cmake --build build && tools/deb.sh build /margay.deb

FROM debian:12-slim
COPY --from=build /margay.deb /tmp/margay.deb
COPY --from=build /margay/build/cuda /usr/local/cuda
RUN apt-get update && apt-get install -y /tmp/margay.deb && rm -rf /tmp/margay.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["margay"]
